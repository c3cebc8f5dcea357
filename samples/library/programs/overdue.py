"""Computes late fees the way handbook/loans/fees.md describes them."""

from dataclasses import dataclass
from datetime import date

FREE_DAYS = 3
CENTS_A_DAY = 10
CENTS_MAX = 500
BLOCKED_AT_CENTS = 1500


@dataclass(frozen=True)
class Loan:
    title: str
    due: date
    reader_is_child: bool = False


def fee_cents(loan: Loan, returned: date) -> int:
    """The fee of one item; it never grows beyond CENTS_MAX."""
    if loan.reader_is_child:
        return 0
    late_days = (returned - loan.due).days
    return min(max(late_days - FREE_DAYS, 0) * CENTS_A_DAY, CENTS_MAX)


def card_is_blocked(loans: list[Loan], today: date) -> bool:
    return sum(fee_cents(loan, today) for loan in loans) >= BLOCKED_AT_CENTS


if __name__ == "__main__":
    novel = Loan("The Lamp Room", date(2026, 3, 3))
    assert fee_cents(novel, date(2026, 3, 24)) == 180
    assert fee_cents(novel, date(2026, 12, 24)) == CENTS_MAX
    assert not card_is_blocked([novel], date(2026, 12, 24))
    print("the examples of the handbook hold")
