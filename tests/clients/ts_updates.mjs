// Hears of a change through Pressmark with the official TypeScript SDK.
//
// usage: ts_updates.mjs URI CHANGE legacy|modern http URL
//        ts_updates.mjs URI CHANGE legacy|modern stdio COMMAND [ARGUMENT ...]
//
// CHANGE is a shell command that changes the resource at URI.

import assert from "node:assert/strict";
import { execSync } from "node:child_process";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const DEADLINE_MS = 120_000;
const [uri, change, era, transportKind, target, ...args] = process.argv.slice(2);

const transport =
  transportKind === "stdio"
    ? new StdioClientTransport({ command: target, args, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(target));
const client = new Client(
  { name: "pressmark-test", version: "1.0.0" },
  { versionNegotiation: { mode: era === "legacy" ? "legacy" : "auto" } },
);

const heard = [];
let wake = () => {};
client.setNotificationHandler("notifications/resources/updated", (notification) => {
  heard.push(notification.params.uri);
  wake();
});

/** Changes the resource and waits until that was heard. */
async function hear() {
  const before = heard.length;
  const told = new Promise((resolve, reject) => {
    wake = resolve;
    setTimeout(() => reject(new Error("the change was not heard of")), DEADLINE_MS).unref();
  });
  execSync(change);
  await told;
  assert.deepEqual(heard.slice(before), [uri]);
}

async function readText() {
  return (await client.readResource({ uri })).contents[0].text;
}

await client.connect(transport);
try {
  assert.equal(client.getProtocolEra(), era);
  const before = await readText();
  let subscription;
  if (era === "legacy") {
    await client.subscribeResource({ uri });
  } else {
    subscription = await client.listen({ resourceSubscriptions: [uri], toolsListChanged: true });
    assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: [uri] });
  }
  await hear();
  assert.notEqual(await readText(), before, "the read that follows sees the change");
  await hear();
  if (era === "legacy") {
    await client.unsubscribeResource({ uri });
  } else {
    await subscription.close();
    assert.equal(await subscription.closed, "local");
  }
} finally {
  await client.close();
}
