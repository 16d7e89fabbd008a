// The official TypeScript client, 1.x and 2.x, with a handshake and without: a script does
// not notice which it is, so that each test is one for all of them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import nodeTest from 'node:test';
import { clients, open, plain } from './clients.mjs';
import { directory, examples, long } from './place.mjs';

const patience = { timeout: 600_000 };

/** A test with each client, or those that are given. What it returns has to be the same with all. */
function test(name, run, those = clients) {
  nodeTest(name, patience, async (t) => {
    const answers = [];
    for (const as of those) {
      await t.test(as.name, async (t) => {
        const answer = await run(t, as);
        assert.deepEqual(answer, answers.push(answer) === 1 ? answer : answers[0]);
      });
    }
  });
}

/** The clients for tests of all examples. make test-long takes all. */
const some = long ? clients : clients.filter((as) => as.everywhere);

/** The names of servers that their metadata sets; others have the name of their folder. */
const names = { '19-plugin': 'file-counter' };

const text = (result) => result.content[0].text;

test('every example lists its tools', async (t, as) => {
  const folders = readdirSync(new URL('../../examples/', import.meta.url), { withFileTypes: true });
  assert.deepEqual(Object.keys(examples), folders.filter((f) => f.isDirectory()).map((f) => f.name).sort());
  const lists = [];
  for (const [example, tools] of Object.entries(examples)) {
    const { client } = await open(t, as, example);
    const list = await client.listTools();
    assert.deepEqual(list.tools.map((tool) => tool.name), tools);
    lists.push(list.tools);
    const { logging, tools: offered } = client.getServerCapabilities(); // P-801
    assert.deepEqual({ logging, tools: offered }, { logging: {}, tools: { listChanged: true } });
    assert.equal(client.getServerVersion().name, names[example] ?? example.slice(3));
    await as.alive(client);
  }
  return lists;
}, some);

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
  ['16-wrapped', 'sort', { reverse: true, stdin: 'a\nb\n' }, (r) => assert.equal(text(r), 'b\na\n')],
  ['16-wrapped', 'cut', { delimiter: ',', fields: '1', stdin: '$(id),x\n' }, (r) => assert.equal(text(r), '$(id)\n')],
  ['13-registry', 'find-note', { word: 'lemons' }, (r) => assert.equal(text(r), 'notes/shopping.md')],
  ['15-asking', 'release', { version: '1.4.2', changes: 'Faster.', kind: 'patch' }, (r) => assert.deepEqual(r.structuredContent, { version: '1.4.3', notes: 'Faster.' })],
  ['17-strangers-tool', 'word-count', { note: 'town' }, (r) => assert.match(text(r), /^14 words/)],
  ['18-library', 'find-book', { word: 'tables' }, (r) => assert.equal(text(r), 'library://sailing/coastal-tides\n')],
  ['19-plugin', 'count-files', {}, (r) => assert.match(text(r), /: \d+ files\n$/)],
  ['21-large-results', 'requests', { lines: 3 }, (r) => assert.equal(text(r), 'request 0000001 /page/1 200 ok\nrequest 0000002 /page/2 200 ok\nrequest 0000003 /page/3 200 ok\n')],
];

for (const [example, name, args, check] of calls) {
  test(`${example}: ${name}`, async (t, as) => {
    const place = await open(t, as, example);
    await place.client.listTools(); // from now on the client holds results against outputSchema
    const result = await place.client.callTool({ name, arguments: args });
    assert.equal(result.isError, false);
    check(result);
    return plain(result, place);
  }, some);
}

test('errors the model can correct are results', async (t, as) => {
  const refused = [
    ['01-arguments', 'convert', { value: -1, from: 'kelvin', to: 'celsius' }, 'out_of_range'],
    ['01-arguments', 'convert', {}, 'validation_error'], // T-11
    ['05-elicitation', 'sign-up', {}, 'cannot_ask'],
    ['15-asking', 'release', { version: '1.4.2', changes: 'Faster.' }, 'no_kind'],
    ['06-wrap-cli', 'stock', { item: 'screws' }, 'depot_failed'],
    ['07-download', 'fetch', { url: 'http://example.com/', name: 'x' }, 'invalid_url'],
  ];
  const results = [];
  for (const [example, name, args, type] of refused) {
    const place = await open(t, as, example);
    const result = await place.client.callTool({ name, arguments: args });
    assert.equal(result.isError, true);
    assert.equal(result.structuredContent.error.type, type);
    results.push(plain(result, place));
  }
  const { client } = await open(t, as, '02-progress'); // T-217: errors of a tool with an output schema
  await client.listTools();
  const result = await client.callTool({ name: 'checksums', arguments: { path: '/' } });
  assert.equal(result.isError, true);
  assert.equal(text(result), 'Invalid arguments: /path: is not expected');
  return results;
});

// M-41: the tool's metadata says what it requires; with a handshake the tool says it.
test('a tool that needs the model of a client that has none', async (t, as) => {
  const { client } = await open(t, as, '15-asking');
  const call = client.callTool({ name: 'summarize', arguments: { text: 'x' } });
  if (as.stateless) {
    await assert.rejects(call, { code: -32021, data: { requiredCapabilities: { sampling: {} } } });
  } else {
    assert.equal((await call).structuredContent.error.type, 'no_model');
  }
});

test('errors of the protocol are thrown', async (t, as) => {
  const { client } = await open(t, as, '01-arguments');
  await assert.rejects(client.callTool({ name: 'box', arguments: { text: 'x', width: 500 } }), { code: -32602, message: /\.width must be <= 80$/ });
  await assert.rejects(client.callTool({ name: 'nope', arguments: {} }), { code: -32602, message: /Tool 'nope' not found$/ });
  await as.alive(client);
});

test('log messages arrive, of the level asked for', async (t, as) => {
  const { client } = await open(t, as, '02-progress');
  const logs = [];
  client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(`${params.level}: ${params.data}`));
  const _meta = await as.level(client, 'info');
  await client.callTool({ name: 'checksums', arguments: {}, _meta });
  assert.deepEqual(logs, ['info: 3 files to read', 'warning: empty.txt is empty']);
});

test('progress arrives while the tool runs', async (t, as) => {
  const { client } = await open(t, as, '02-progress');
  const reports = [];
  await client.callTool({ name: 'countdown', arguments: { from: 3, pause: 0.5 } }, { onprogress: (p) => reports.push(p) });
  assert.deepEqual(reports.slice(0, 3), [ // the last one comes together with the answer; see open
    { progress: 0, total: 100, message: '3...' },
    { progress: 33, total: 100, message: '2...' },
    { progress: 66, total: 100, message: '1...' },
  ]);
});

test('a call can be cancelled', async (t, as) => {
  const { client } = await open(t, as, '02-progress');
  const stop = new AbortController();
  const call = client.callTool({ name: 'countdown', arguments: { from: 100, pause: 10 } }, { signal: stop.signal, onprogress: () => stop.abort('enough') });
  await assert.rejects(call, /enough/);
  assert.equal(text(await client.callTool({ name: 'countdown', arguments: { from: 1, pause: 0 } })), '1 lift-off!');
});

test('the user is asked, and answers', async (t, as) => {
  const asked = [];
  const answers = { choice: 'large', choices: ['basil', 'olives'], confirmed: true };
  const answer = ({ params }) => {
    asked.push(params.message);
    const [field] = Object.keys(params.requestedSchema.properties);
    return { action: 'accept', content: { [field]: answers[field] } };
  };
  const place = await open(t, as, '05-elicitation', { capabilities: { elicitation: {} }, handlers: { 'elicitation/create': answer } });
  const result = await place.client.callTool({ name: 'order-pizza', arguments: {} });
  assert.deepEqual(result.structuredContent.result, { size: 'large', toppings: ['basil', 'olives'] });
  assert.deepEqual(asked, ['Which size?', 'Which toppings?', 'Order a large pizza with basil and olives?']);
  return plain(result, place);
});

test('the user declines, and is sent to a page', async (t, as) => {
  const answer = ({ params }) => ({ action: params.mode === 'url' && params.url === 'https://example.com/link' ? 'accept' : 'decline' });
  const place = await open(t, as, '05-elicitation', { capabilities: { elicitation: { form: {}, url: {} } }, handlers: { 'elicitation/create': answer } });
  const declined = await place.client.callTool({ name: 'sign-up', arguments: {} });
  assert.equal(text(declined), 'Not signed up: you declined.');
  const opened = await place.client.callTool({ name: 'link-account', arguments: {} });
  assert.match(text(opened), /^The page was opened\./);
  return [plain(declined, place), plain(opened, place)];
});

test('the user, the model and the roots are asked for', async (t, as) => {
  const message = ({ params }) => ({ role: 'assistant', model: 'm', content: { type: 'text', text: params.messages[0].content.text.length > 20 ? '- Faster' : 'Short.' } });
  const place = await open(t, as, '15-asking', {
    capabilities: { elicitation: {}, sampling: {}, roots: {} },
    handlers: {
      'elicitation/create': () => ({ action: 'accept', content: { kind: 'major' } }),
      'sampling/createMessage': message,
      'roots/list': () => ({ roots: [{ uri: 'file:///one' }] }),
    },
  });
  const call = async (name, args) => plain(await place.client.callTool({ name, arguments: args }), place);
  const released = await call('release', { version: '1.4.2', changes: 'Faster.' });
  assert.deepEqual(released.structuredContent, { version: '2.0.0', notes: '- Faster' });
  const summary = await call('summarize', { text: 'long' });
  assert.equal(text(summary), 'Short.');
  const folders = await call('folders', {});
  assert.deepEqual(folders.structuredContent, { asked: true, roots: ['file:///one'] });
  if (as.stateless) { // M-57: what release asks for is one round
    const rounds = place.lines('<').map((line) => JSON.parse(line).result?.inputRequests).filter(Boolean);
    assert.deepEqual(rounds.map(Object.keys), [['kind', 'notes'], ['sample'], ['roots']]);
  }
  return [released, summary, folders];
});

test('a call is cancelled while the user thinks', async (t, as) => {
  const stop = new AbortController();
  const place = await open(t, as, '05-elicitation', {
    capabilities: { elicitation: {} },
    handlers: {
      'elicitation/create': (_, context) => new Promise((_, reject) => {
        const signal = context.signal ?? context.mcpReq.signal;
        signal.addEventListener('abort', () => reject(new Error('enough')));
        stop.abort('enough');
      }),
    },
  });
  await assert.rejects(place.client.callTool({ name: 'sign-up', arguments: {} }, { signal: stop.signal }), /enough/);
  const ordered = { size: 'small', toppings: [], confirmed: true };
  assert.equal((await place.client.callTool({ name: 'order-pizza', arguments: ordered })).isError, false);
});

test('the client names its roots, and changes them', async (t, as) => {
  let roots = [directory(t)];
  writeFileSync(join(roots[0], 'a file.txt'), 'one\ntwo\n');
  const list = () => ({ roots: roots.map((dir) => ({ uri: `file://${dir}` })) });
  const { client } = await open(t, as, '03-roots', { capabilities: { roots: { listChanged: true } }, handlers: { 'roots/list': list } });
  assert.deepEqual((await client.callTool({ name: 'list-files', arguments: {} })).structuredContent, { directory: roots[0], names: ['a file.txt'] });
  assert.equal(text(await client.callTool({ name: 'read-file', arguments: { path: join(roots[0], 'a file.txt'), lines: 1 } })), 'one\n');
  await assert.rejects(client.callTool({ name: 'read-file', arguments: { path: '/etc/passwd' } }), { code: -32602 });

  roots = [...roots, directory(t)];
  await client.sendRootsListChanged();
  for (let count = 1; count !== 2; ) { // the test's time limit bounds this
    count = (await client.callTool({ name: 'show-roots', arguments: {} })).structuredContent.count;
  }
}, clients.filter((as) => !as.stateless)); // who are the others' roots only a tool asks (M-10)

test('prompts are listed and filled in', async (t, as) => {
  const { client } = await open(t, as, '11-prompts');
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
  return [prompts, explained.messages, messages];
});

test('the user is asked for the arguments of a prompt', async (t, as) => {
  const answer = () => ({ action: 'accept', content: { audience: 'my boss' } });
  const { client } = await open(t, as, '11-prompts', { capabilities: { elicitation: {} }, handlers: { 'elicitation/create': answer } });
  const { messages } = await client.getPrompt({ name: 'explain', arguments: { text: 'Tides' } });
  assert.match(messages[0].content.text, /^Explain this to my boss,/);
  return messages;
});

test('arguments are completed', async (t, as) => {
  const { client } = await open(t, as, '12-completion');
  assert.deepEqual(client.getServerCapabilities().completions, {});
  const complete = async (name, argument, given) => {
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name }, argument, context: { arguments: given } });
    return completion;
  };
  assert.deepEqual((await complete('haiku', { name: 'subject', value: 'rain' }, {})).values, []);
  assert.deepEqual((await complete('recipe', { name: 'dish', value: 'r' }, { cuisine: 'italian' })).values, ['risotto']);
  assert.deepEqual(await complete('weather', { name: 'city', value: 'q' }, {}), { values: ['Quito'], total: 1, hasMore: false });
  await assert.rejects(complete('weather', { name: '', value: '' }, {}), { code: -32602, message: /Completion argument name is required$/ });
});

test('the variables of a template are completed, and its expansion is read', async (t, as) => { // T-612a; RES-174
  const { client } = await open(t, as, '18-library');
  const [{ uriTemplate: uri }] = (await client.listResourceTemplates()).resourceTemplates;
  const complete = async (name, given) => (await client.complete({
    ref: { type: 'ref/resource', uri }, argument: { name, value: '' }, context: { arguments: given },
  })).completion.values;
  const [, subject] = await complete('subject', {});
  const [title] = await complete('title', { subject });
  const { contents } = await client.readResource({ uri: uri.replace('{subject}', subject).replace('{title}', title) });
  assert.match(contents[0].text, /^# Coastal tides\n/);
  await assert.rejects(client.callTool({ name: 'reserve-book', arguments: { book: contents[0].uri } }), { code: -32602, message: /needs a library card/ }); // T-33
  return contents;
});

// RES-142: this client takes no result but the protocol's.
test('resources are read and watched', async (t, as) => {
  const { client, project } = await open(t, as, '09-resources', { env: { MCPBASH_RESOURCES_POLL_INTERVAL_SECS: '0.02' } });
  const uris = Object.fromEntries((await client.listResources()).resources.map(({ name, uri }) => [name, uri]));
  const updated = new Map(); // by URI: what to do when it changes
  client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => updated.get(uri)());
  const change = async (name, file, content) => {
    const told = new Promise((resolve) => updated.set(uris[name], resolve));
    writeFileSync(join(project, 'resources', file), content);
    await told;
  };
  const leave = await as.watch(client, uris.weather);
  await as.watch(client, uris.tides);
  await change('weather', 'weather.txt', 'storm\n');
  assert.deepEqual((await client.readResource({ uri: uris.weather })).contents, [{ uri: uris.weather, mimeType: 'text/plain', text: 'storm\n' }]);

  await leave();
  updated.set(uris.weather, () => assert.fail('told of what is watched no more'));
  writeFileSync(join(project, 'resources', 'weather.txt'), 'calm\n');
  await change('tides', 'guide/tides.md', '# Low\n');
  await change('tides', 'guide/tides.md', '# High\n'); // all were looked at between the two
});

test('the client is told of a new tool', async (t, as) => {
  const { client, project } = await open(t, as, '00-hello', { env: { MCP_TOOLS_TTL: '1' } });
  let ring;
  const next = () => new Promise((resolve) => { ring = resolve; });
  client.setNotificationHandler('notifications/tools/list_changed', () => ring());
  let told = next();
  await client.listTools();
  await as.watchTools?.(client);
  cpSync(join(project, 'tools/hello'), join(project, 'tools/bye'), { recursive: true });
  writeFileSync(join(project, 'tools/bye/tool.meta.json'), '{"name":"bye","description":"Says goodbye"}');
  for (let names = []; !names.includes('bye');) { // the test's time limit bounds this
    await told;
    told = next();
    names = (await client.listTools()).tools.map((tool) => tool.name);
  }
});

test('templates are listed, and their expansions read', async (t, as) => {
  const { client } = await open(t, as, '10-provider');
  assert.deepEqual((await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate), ['stock://{article}']);
  const { contents } = await client.readResource({ uri: 'stock://wood-screws' });
  assert.deepEqual(JSON.parse(contents[0].text), { article: 'wood-screws', pieces: 77, shelf: 'B4' });
  await assert.rejects(client.readResource({ uri: 'stock://hammers' }), { code: as.notFound });
  return contents;
});

test('skills are listed, and their files read', async (t, as) => { // SK-20 to SK-24
  const { client } = await open(t, as, '19-plugin');
  assert.deepEqual(client.getServerCapabilities().extensions['io.modelcontextprotocol/skills'], { directoryRead: true });
  const { skills: [skill, ...others] } = await as.request(client, 'skills/list', {});
  assert.deepEqual(others, []);
  assert.equal(skill.uri, 'skill://tidy-up/SKILL.md');
  assert.equal(skill.frontmatter.name, 'tidy-up');
  for (const { uri, digest, size } of skill.resources) {
    const { contents: [{ text: content }] } = await client.readResource({ uri });
    assert.equal(Buffer.byteLength(content), size);
    assert.equal(`sha256:${createHash('sha256').update(content).digest('hex')}`, digest);
  }
  assert.deepEqual((await as.request(client, 'skills/get', { uri: skill.uri })).skill, skill);
  const { resources } = await as.request(client, 'resources/directory/read', { uri: 'skill://tidy-up' });
  assert.deepEqual(resources.map(({ name, mimeType }) => [name, mimeType]), [['tidy-up', 'text/markdown'], ['references', 'inode/directory']]);
  await assert.rejects(as.request(client, 'skills/get', { uri: 'skill://none/SKILL.md' }), { code: -32602 });
  return [skill, resources];
});

test('a long result is read in parts, and searched', async (t, as) => { // LR-2, LR-10, LR-30
  const { client } = await open(t, as, '21-large-results');
  const { content: [{ text: part }, link] } = await client.callTool({ name: 'requests', arguments: {} });
  assert.ok(part.length < 4096 && part.includes('19904 lines'), part);
  assert.equal(link.type, 'resource_link');
  const { contents: [{ text: line }] } = await client.readResource({ uri: `${link.uri}?offset=4998&limit=1` });
  assert.equal(line, 'request 0004999 /page/52 500 disk full\n');
  const found = await client.callTool({ name: 'result_search', arguments: { uri: link.uri, pattern: 'disk full' } });
  assert.match(text(found), /^4998:\d+:request 0004999 .*\n/);
  await assert.rejects(client.readResource({ uri: 'mcpbash-result://none' }), { code: as.notFound });
  return [part.replaceAll(link.uri, ''), text(found)];
});
