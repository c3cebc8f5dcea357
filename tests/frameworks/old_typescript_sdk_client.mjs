// The official TypeScript SDK of May 2025 (protocol 2025-03-26), over HTTP or through a command that speaks stdio.
// usage: node old_typescript_sdk_client.mjs FACTS_FILE [COMMAND ARGUMENT ...]
import assert from 'node:assert/strict';
import { appendFile, readFile } from 'node:fs/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const DEADLINE_MS = 60_000;

const [factsFile, command, ...args] = process.argv.slice(2);
const facts = JSON.parse(await readFile(factsFile, 'utf8'));
const transport = command
  ? new StdioClientTransport({ command, args })
  : new StreamableHTTPClientTransport(new URL(facts.server_url));
const client = new Client({ name: 'old-typescript-sdk', version: '1.0.0' });
const deadline = setTimeout(() => {
  console.error(`not done after ${DEADLINE_MS} ms`);
  process.exit(1);
}, DEADLINE_MS);

const updated = new Promise((resolve) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
});
await client.connect(transport);

const { resources } = await client.listResources();
assert(resources.some(({ uri }) => uri === facts.uri), JSON.stringify(resources));
const { contents } = await client.readResource({ uri: facts.uri });
assert.equal(contents[0].text, await readFile(facts.path, 'utf8'));
const prompt = await client.getPrompt({ name: facts.prompt, arguments: facts.prompt_arguments });
assert(prompt.messages.some(({ content }) => content.text.includes(facts.prompt_arguments.word)));

const found = await client.callTool({ name: 'search', arguments: { query: 'answer', space: null, limit: null } });
assert.deepEqual(found.content.map(({ type }) => type), ['text'], JSON.stringify(found));
assert(found.content[0].text.includes(facts.uri), found.content[0].text);
const fetched = await client.callTool({ name: 'fetch', arguments: { id: facts.uri, offset: null, limit: null } });
assert.deepEqual(fetched.content.map(({ type }) => type), ['text'], JSON.stringify(fetched));
assert(fetched.content[0].text.includes('answer: number = 42'), fetched.content[0].text);

await client.subscribeResource({ uri: facts.uri });
await appendFile(facts.path, '// changed\n');
assert.equal(await updated, facts.uri);

await client.close();
clearTimeout(deadline);
console.log('checked: fetch, list, prompt, read, search, update');
