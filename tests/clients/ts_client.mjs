// Reads a folder through Pressmark with the official TypeScript SDK and compares it with the disk.
//
// usage: ts_client.mjs FOLDER legacy|modern http URL
//        ts_client.mjs FOLDER legacy|modern stdio COMMAND [ARGUMENT ...]

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const FETCH_LIMIT = 500; // small enough that `fetch` needs several calls for lines.txt
const [folder, era, transportKind, target, ...args] = process.argv.slice(2);

/** The file behind `docs://slug/path`, decoded once. */
function pathOf(uri) {
  const afterSlug = uri.slice("docs://".length).replace(/^[^/]*\/?/, "");
  return path.join(folder, decodeURIComponent(afterSlug));
}

function filesBelow(directory) {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Pages by hand, so that cursors are seen; without a cursor the SDK itself walks all the pages. */
async function listAll(client) {
  const whole = await client.listResources();
  const resources = [];
  const cursors = new Set();
  let page = await client.request({ method: "resources/list", params: {} });
  for (;;) {
    resources.push(...page.resources);
    if (page.nextCursor === undefined) break;
    assert(!cursors.has(page.nextCursor), "a cursor came back twice");
    cursors.add(page.nextCursor);
    page = await client.listResources({ cursor: page.nextCursor });
  }
  assert(cursors.size > 0, "the folder is larger than a page, yet there was no second page");
  const uris = resources.map((resource) => resource.uri);
  assert.deepEqual(whole.resources.map((resource) => resource.uri), uris);
  return uris;
}

async function readOne(client, uri) {
  return (await client.readResource({ uri })).contents[0];
}

async function checkFiles(client, uris) {
  for (const uri of uris) {
    const data = fs.readFileSync(pathOf(uri));
    const part = await readOne(client, uri);
    assert.equal(part.uri, uri);
    if (part.text === undefined) {
      assert.deepEqual(Buffer.from(part.blob, "base64"), data, uri);
      assert(part.mimeType, `${uri}: a blob has a MIME type`);
    } else {
      assert.deepEqual(Buffer.from(part.text, "utf8"), data, uri);
    }
  }
}

async function checkSlices(client, uri) {
  const text = fs.readFileSync(pathOf(uri), "utf8");
  const lines = text.split(/(?<=\n)/).slice(99, 200).join("");
  assert.equal((await readOne(client, `${uri}#line=99,200`)).text, lines);
  const chars = Array.from(text).slice(3, 4096).join("");
  assert.equal((await readOne(client, `${uri}#char=3,4096`)).text, chars);
}

async function checkFolder(client, uri) {
  const { contents } = await client.readResource({ uri });
  const listed = new Set(contents.map((part) => path.basename(pathOf(part.uri))));
  for (const child of fs.readdirSync(pathOf(uri))) assert(listed.has(child), `${uri}: ${child}`);
}

async function checkFetch(client, uri) {
  const { tools } = await client.listTools();
  assert(tools.some((tool) => tool.name === "fetch"));
  let text = "";
  let offset = 0;
  while (offset !== undefined) {
    const fetchArguments = { id: uri, offset, limit: FETCH_LIMIT };
    const result = await client.callTool({ name: "fetch", arguments: fetchArguments });
    assert(!result.isError, JSON.stringify(result));
    assert.equal(result.content.length, 1);
    const { url, ...brief } = result.structuredContent;
    assert.equal(url, uri);
    assert.deepEqual(JSON.parse(result.content[0].text), brief);
    text += result.structuredContent.text;
    offset = result.structuredContent.nextOffset;
  }
  assert.equal(text, fs.readFileSync(pathOf(uri), "utf8"));
}

/** What was indexed a moment ago is found within some seconds. */
async function checkSearch(client, uri) {
  const query = `uri:${path.basename(pathOf(uri))}`;
  for (let look = 0; look < 100; look += 1) {
    const result = await client.callTool({ name: "search", arguments: { query, limit: 50 } });
    assert(!result.isError, JSON.stringify(result));
    assert.equal(result.content.length, 1);
    const read = JSON.parse(result.content[0].text).results.map((hit) => hit.id);
    assert.deepEqual(read, result.structuredContent.results.map((hit) => hit.id));
    if (result.structuredContent.results.some((hit) => hit.id === uri)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`${uri} is not found`);
}

/** Every file is reached by completing its path, one folder after the other. */
async function checkCompletion(client, root, uris) {
  const ref = { type: "ref/resource", uri: `${root}{+path}` };
  const found = [];
  const folders = [""];
  while (folders.length > 0) {
    const argument = { name: "path", value: folders.pop() };
    const { completion } = await client.complete({ ref, argument });
    assert.equal(completion.values.length, completion.total, JSON.stringify(completion));
    for (const value of completion.values) {
      if (value.endsWith("/")) folders.push(value);
      else found.push(root + value);
    }
  }
  assert.deepEqual(found.sort(), [...uris].sort());

  const argument = { name: "path", value: "LINSE" };
  const context = { arguments: { unknown: "x" } };
  const { completion } = await client.complete({ ref, argument, context });
  assert(completion.values.includes("lines.txt"), "upper case and a swap");
  await assert.rejects(client.complete({ ref, argument: { name: "title", value: "" } }), (error) => {
    assert.equal(error.code, -32602, String(error));
    assert(error.message.includes("path"), error.message);
    return true;
  });
}

async function checkMissing(client, uri) {
  await assert.rejects(readOne(client, uri), (error) => {
    assert([-32002, -32602].includes(error.code), String(error));
    return true;
  });
}

async function check(client) {
  assert.equal(client.getProtocolEra(), era);
  const listed = await listAll(client);
  assert.equal(new Set(listed).size, listed.length, "a resource was listed twice");
  const uris = listed.filter((uri) => fs.statSync(pathOf(uri)).isFile());
  assert.deepEqual(uris.map(pathOf).sort(), filesBelow(folder).sort());

  const lines = uris.find((uri) => uri.endsWith("/lines.txt"));
  const root = lines.slice(0, -"lines.txt".length);
  await checkFiles(client, uris);
  await checkSlices(client, lines);
  for (const spelling of ["nested", "nested/", "odd%20names"]) {
    await checkFolder(client, root + spelling);
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  assert(resourceTemplates.some((template) => template.uriTemplate === `${root}{+path}`));
  await checkCompletion(client, root, uris);
  await checkFetch(client, lines);
  await checkSearch(client, lines);
  await checkMissing(client, `${root}no-such-file.txt`);
}

const transport =
  transportKind === "stdio"
    ? new StdioClientTransport({ command: target, args, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(target));
const mode = era === "legacy" ? "legacy" : "auto";
const client = new Client(
  { name: "pressmark-test", version: "1.0.0" },
  { versionNegotiation: { mode } },
);
await client.connect(transport);
try {
  await check(client);
} finally {
  await client.close();
}
