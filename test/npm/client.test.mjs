// The official TypeScript client, in the handshake revisions.
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { copyOf, directory, environment, examples, load, server } from './place.mjs';

const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
const { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema, ResourceUpdatedNotificationSchema } = load('@modelcontextprotocol/sdk/types.js');

const patience = { timeout: 60_000 };

/** Connects to a server for an example; the connection ends with the test. */
async function open(t, example, { capabilities = {}, handlers = [], env = {} } = {}) {
  const client = new Client({ name: 'npm-test', version: '1' }, { capabilities });
  for (const [schema, answer] of handlers) {
    client.setRequestHandler(schema, answer);
  }
  const project = copyOf(t, example);
  const transport = new StdioClientTransport({ command: server, env: { ...environment(t, project), ...env }, stderr: 'inherit' });
  const problems = [];
  // This client forgets the token of a call before it looks at the progress that
  // came in the same chunk as the answer.
  client.onerror = (error) => /^Received a progress notification for an unknown token/.test(error.message) || problems.push(error);
  await client.connect(transport);
  t.after(async () => {
    await client.close();
    assert.deepEqual(problems, []);
  });
  return { client, project };
}

const text = (result) => result.content[0].text;

test('every example lists its tools', patience, async (t) => {
  const folders = readdirSync(new URL('../../examples/', import.meta.url), { withFileTypes: true });
  assert.deepEqual(Object.keys(examples), folders.filter((f) => f.isDirectory()).map((f) => f.name).sort());
  for (const [example, tools] of Object.entries(examples)) {
    const { client } = await open(t, example);
    const list = await client.listTools();
    assert.deepEqual(list.tools.map((tool) => tool.name), tools);
    const { logging, tools: offered } = client.getServerCapabilities(); // P-801
    assert.deepEqual({ logging, tools: offered }, { logging: {}, tools: { listChanged: true } });
    await client.ping();
  }
});

// A call of each example, as often as its tools differ in kind.
const calls = [
  ['00-hello', 'hello', { name: 'Ada' }, (r) => assert.equal(text(r), 'Hello, Ada!')],
  ['01-arguments', 'convert', { value: 100, from: 'celsius', to: 'fahrenheit' }, (r) => assert.deepEqual(r.structuredContent, { value: 212, unit: 'fahrenheit' })],
  ['01-arguments', 'box', { text: 'hi', width: 10 }, (r) => assert.equal(text(r), '+--------+\n| hi     |\n+--------+')],
  ['02-progress', 'checksums', {}, (r) => assert.equal(r.structuredContent.total, 3)],
  ['03-roots', 'show-roots', {}, (r) => assert.equal(r.structuredContent.count, 1)],
  ['03-roots', 'list-files', {}, (r) => assert.ok(r.structuredContent.names.includes('tools'))],
  ['03-roots', 'read-file', { path: 'README.md', lines: 1 }, (r) => assert.equal(text(r), '# 03-roots\n')],
  ['04-embedded', 'attach', { path: 'documents/tides.csv' }, (r) => assert.equal(r.content[1].resource.text, 'hour,metres\n12,4.2\n18,0.7\n')],
  ['04-embedded', 'swatch', { color: '#00ff00' }, (r) => assert.equal(r.content[1].mimeType, 'image/gif')],
  ['05-elicitation', 'order-pizza', { size: 'small', toppings: [], confirmed: true }, (r) => assert.deepEqual(r.structuredContent.result, { size: 'small', toppings: [] })],
  ['06-wrap-cli', 'stock', { item: 'nuts' }, (r) => assert.deepEqual(r.structuredContent, { item: 'nuts', pieces: 340 })],
  ['06-wrap-cli', 'audit', {}, (r) => assert.deepEqual(r.structuredContent, { items: 4, pieces: 1467 })],
  ['08-any-language', 'letters', { text: 'Hello' }, (r) => assert.deepEqual(r.structuredContent, { e: 1, h: 1, l: 2, o: 1 })],
  ['14-mcp-app', 'board', {}, (r) => assert.match(text(r), /^done: Return the books \(books\)$/m)],
  ['13-registry', 'find-note', { word: 'lemons' }, (r) => assert.equal(text(r), 'notes/shopping.md')],
  ['15-asking', 'release', { version: '1.4.2', changes: 'Faster.', kind: 'patch' }, (r) => assert.deepEqual(r.structuredContent, { version: '1.4.3', notes: 'Faster.' })],
];

for (const [example, name, args, check] of calls) {
  test(`${example}: ${name}`, patience, async (t) => {
    const { client } = await open(t, example);
    await client.listTools(); // from now on the client holds results against outputSchema
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.isError, false);
    check(result);
  });
}

test('errors the model can correct are results', patience, async (t) => {
  const refused = [
    ['01-arguments', 'convert', { value: -1, from: 'kelvin', to: 'celsius' }, 'out_of_range'],
    ['01-arguments', 'convert', {}, 'validation_error'], // T-11
    ['05-elicitation', 'sign-up', {}, 'cannot_ask'],
    ['15-asking', 'release', { version: '1.4.2', changes: 'Faster.' }, 'no_kind'],
    ['15-asking', 'summarize', { text: 'x' }, 'no_model'],
    ['06-wrap-cli', 'stock', { item: 'screws' }, 'depot_failed'],
    ['07-download', 'fetch', { url: 'http://example.com/', name: 'x' }, 'invalid_url'],
  ];
  for (const [example, name, args, type] of refused) {
    const { client } = await open(t, example);
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.isError, true);
    assert.equal(result.structuredContent.error.type, type);
  }
  const { client } = await open(t, '02-progress'); // T-217: errors of a tool with an output schema
  await client.listTools();
  const result = await client.callTool({ name: 'checksums', arguments: { path: '/' } });
  assert.equal(result.isError, true);
  assert.equal(text(result), 'Invalid arguments: /path: is not expected');
});

test('errors of the protocol are thrown', patience, async (t) => {
  const { client } = await open(t, '01-arguments');
  await assert.rejects(client.callTool({ name: 'box', arguments: { text: 'x', width: 500 } }), { code: -32602, message: /\.width must be <= 80$/ });
  await assert.rejects(client.callTool({ name: 'nope', arguments: {} }), { code: -32602, message: /Tool 'nope' not found$/ });
  await client.ping();
});

test('log messages arrive, of the level asked for', patience, async (t) => {
  const { client } = await open(t, '02-progress');
  const logs = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logs.push(`${params.level}: ${params.data}`));
  await client.setLoggingLevel('info');
  await client.callTool({ name: 'checksums', arguments: {} });
  assert.deepEqual(logs, ['info: 3 files to read', 'warning: empty.txt is empty']);
});

test('progress arrives while the tool runs', patience, async (t) => {
  const { client } = await open(t, '02-progress');
  const reports = [];
  await client.callTool({ name: 'countdown', arguments: { from: 3, pause: 0.5 } }, undefined, { onprogress: (p) => reports.push(p) });
  assert.deepEqual(reports.slice(0, 3), [ // the last one comes together with the answer; see open
    { progress: 0, total: 100, message: '3...' },
    { progress: 33, total: 100, message: '2...' },
    { progress: 66, total: 100, message: '1...' },
  ]);
});

test('a call can be cancelled', patience, async (t) => {
  const { client } = await open(t, '02-progress');
  const stop = new AbortController();
  const call = client.callTool({ name: 'countdown', arguments: { from: 100, pause: 10 } }, undefined, { signal: stop.signal, onprogress: () => stop.abort('enough') });
  await assert.rejects(call, /enough/);
  assert.equal(text(await client.callTool({ name: 'countdown', arguments: { from: 1, pause: 0 } })), '1 lift-off!');
});

test('the user is asked, and answers', patience, async (t) => {
  const asked = [];
  const answers = { choice: 'large', choices: ['basil', 'olives'], confirmed: true };
  const answer = ({ params }) => {
    asked.push(params.message);
    const [field] = Object.keys(params.requestedSchema.properties);
    return { action: 'accept', content: { [field]: answers[field] } };
  };
  const { client } = await open(t, '05-elicitation', { capabilities: { elicitation: {} }, handlers: [[ElicitRequestSchema, answer]] });
  const result = await client.callTool({ name: 'order-pizza', arguments: {} });
  assert.deepEqual(result.structuredContent.result, { size: 'large', toppings: ['basil', 'olives'] });
  assert.deepEqual(asked, ['Which size?', 'Which toppings?', 'Order a large pizza with basil and olives?']);
});

test('the user declines, and is sent to a page', patience, async (t) => {
  const answer = ({ params }) => ({ action: params.mode === 'url' && params.url === 'https://example.com/link' ? 'accept' : 'decline' });
  const { client } = await open(t, '05-elicitation', { capabilities: { elicitation: { form: {}, url: {} } }, handlers: [[ElicitRequestSchema, answer]] });
  assert.equal(text(await client.callTool({ name: 'sign-up', arguments: {} })), 'Not signed up: you declined.');
  assert.match(text(await client.callTool({ name: 'link-account', arguments: {} })), /^The page was opened\./);
});

test('the user, the model and the roots are asked for', patience, async (t) => {
  const message = ({ params }) => ({ role: 'assistant', model: 'm', content: { type: 'text', text: params.messages[0].content.text.length > 20 ? '- Faster' : 'Short.' } });
  const { client } = await open(t, '15-asking', {
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
    handlers: [
      [ElicitRequestSchema, () => ({ action: 'accept', content: { kind: 'major' } })],
      [CreateMessageRequestSchema, message],
      [ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///one' }] })],
    ],
  });
  const released = await client.callTool({ name: 'release', arguments: { version: '1.4.2', changes: 'Faster.' } });
  assert.deepEqual(released.structuredContent, { version: '2.0.0', notes: '- Faster' });
  assert.equal(text(await client.callTool({ name: 'summarize', arguments: { text: 'long' } })), 'Short.');
  assert.deepEqual((await client.callTool({ name: 'folders', arguments: {} })).structuredContent, { asked: true, roots: ['file:///one'] });
});

test('the client names its roots, and changes them', patience, async (t) => {
  let roots = [directory(t)];
  writeFileSync(join(roots[0], 'a file.txt'), 'one\ntwo\n');
  const list = () => ({ roots: roots.map((dir) => ({ uri: `file://${dir}` })) });
  const { client } = await open(t, '03-roots', { capabilities: { roots: { listChanged: true } }, handlers: [[ListRootsRequestSchema, list]] });
  assert.deepEqual((await client.callTool({ name: 'list-files', arguments: {} })).structuredContent, { directory: roots[0], names: ['a file.txt'] });
  assert.equal(text(await client.callTool({ name: 'read-file', arguments: { path: join(roots[0], 'a file.txt'), lines: 1 } })), 'one\n');
  await assert.rejects(client.callTool({ name: 'read-file', arguments: { path: '/etc/passwd' } }), { code: -32602 });

  roots = [...roots, directory(t)];
  await client.sendRootsListChanged();
  for (let count = 1; count !== 2; ) { // the test's time limit bounds this
    count = (await client.callTool({ name: 'show-roots', arguments: {} })).structuredContent.count;
  }
});

test('prompts are listed and filled in', patience, async (t) => {
  const { client } = await open(t, '11-prompts');
  assert.deepEqual(client.getServerCapabilities().prompts, { listChanged: true });
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => [prompt.name, prompt.arguments.map((a) => a.name)]), [['explain', ['text', 'audience']], ['shape', ['shape', 'language']]]);
  const explained = await client.getPrompt({ name: 'explain', arguments: { audience: 'a child', text: 'Tides' } });
  assert.deepEqual(explained.messages, [
    { role: 'user', content: { type: 'text', text: 'Explain this to a child, in at most three sentences and without jargon:\n\nTides' } },
  ]);
  const { messages } = await client.getPrompt({ name: 'shape', arguments: { shape: 'square', language: 'French' } });
  assert.deepEqual(messages.map(({ role, content }) => [role, content.type, content.mimeType]), [
    ['user', 'text', undefined], ['user', 'image', 'image/png'], ['assistant', 'text', undefined], ['user', 'image', 'image/png'],
  ]);
  await assert.rejects(client.getPrompt({ name: 'explain', arguments: {} }), { code: -32602, message: /Missing required argument: text$/ });
  await assert.rejects(client.getPrompt({ name: 'nope' }), { code: -32602, message: /Prompt not found$/ });
});

test('the user is asked for the arguments of a prompt', patience, async (t) => {
  const answer = () => ({ action: 'accept', content: { audience: 'my boss' } });
  const { client } = await open(t, '11-prompts', { capabilities: { elicitation: {} }, handlers: [[ElicitRequestSchema, answer]] });
  const { messages } = await client.getPrompt({ name: 'explain', arguments: { text: 'Tides' } });
  assert.match(messages[0].content.text, /^Explain this to my boss,/);
});

test('arguments are completed', patience, async (t) => {
  const { client } = await open(t, '12-completion');
  assert.deepEqual(client.getServerCapabilities().completions, {});
  const complete = async (name, argument, given) => {
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name }, argument, context: { arguments: given } });
    return completion;
  };
  assert.deepEqual((await complete('haiku', { name: 'subject', value: 'rain' }, {})).values, ['rain', 'rain snippet', 'rain example']);
  assert.deepEqual((await complete('recipe', { name: 'dish', value: 'r' }, { cuisine: 'italian' })).values, ['risotto']);
  assert.deepEqual(await complete('weather', { name: 'city', value: 'q' }, {}), { values: ['Quito'], total: 1, hasMore: false });
  await assert.rejects(complete('weather', { name: '', value: '' }, {}), { code: -32602, message: /Completion argument name is required$/ });
});

// RES-142: this client takes no result but the protocol's.
test('resources are read and watched', patience, async (t) => {
  const { client, project } = await open(t, '09-resources', { env: { MCPBASH_RESOURCES_POLL_INTERVAL_SECS: '0.02' } });
  const uris = Object.fromEntries((await client.listResources()).resources.map(({ name, uri }) => [name, uri]));
  const updated = new Map(); // by URI: what to do when it changes
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params: { uri } }) => updated.get(uri)());
  const change = async (name, file, content) => {
    const told = new Promise((resolve) => updated.set(uris[name], resolve));
    writeFileSync(join(project, 'resources', file), content);
    await told;
  };
  await client.subscribeResource({ uri: uris.weather });
  await client.subscribeResource({ uri: uris.tides });
  await change('weather', 'weather.txt', 'storm\n');
  assert.deepEqual((await client.readResource({ uri: uris.weather })).contents, [{ uri: uris.weather, mimeType: 'text/plain', text: 'storm\n' }]);

  await client.unsubscribeResource({ uri: uris.weather });
  updated.set(uris.weather, () => assert.fail('told of what is watched no more'));
  writeFileSync(join(project, 'resources', 'weather.txt'), 'calm\n');
  await change('tides', 'guide/tides.md', '# Low\n');
  await change('tides', 'guide/tides.md', '# High\n'); // all were looked at between the two
});

test('templates are listed, and their expansions read', patience, async (t) => {
  const { client } = await open(t, '10-provider');
  assert.deepEqual((await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate), ['stock://{article}']);
  const { contents } = await client.readResource({ uri: 'stock://wood-screws' });
  assert.deepEqual(JSON.parse(contents[0].text), { article: 'wood-screws', pieces: 77, shelf: 'B4' });
  await assert.rejects(client.readResource({ uri: 'stock://hammers' }), { code: -32002 });
});
