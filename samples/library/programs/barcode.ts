// Twelve digits: eleven for the item, one that catches a mistyped or swapped digit.

export type Barcode = string & { readonly brand: unique symbol };

export function checkDigit(item: string): number {
  const sum = [...item].reduce((total, digit, place) => total + Number(digit) * (place % 2 === 0 ? 3 : 1), 0);
  return (10 - (sum % 10)) % 10;
}

export function parseBarcode(text: string): Barcode | undefined {
  if (!/^\d{12}$/.test(text)) return undefined;
  return checkDigit(text.slice(0, 11)) === Number(text[11]) ? (text as Barcode) : undefined;
}
