// The command line of the MCP Inspector.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { serve } from './clients.mjs';
import { copyOf, directory, environment, examples, program, server } from './place.mjs';

/** Runs the Inspector on an example, and returns its exit code and its JSON. */
function inspect(t, example, ...args) {
  const variables = Object.entries(environment(t, copyOf(t, example))).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  return run(t, server, ...variables, ...args);
}

function run(t, ...args) {
  const more = typeof args[0] === 'object' ? args.shift() : {};
  const env = { ...process.env, HOME: directory(t), PATH: `${program('')}:${process.env.PATH}`, ...more };
  return new Promise((resolve, reject) => {
    execFile(program('mcp-inspector'), ['--cli', ...args, '--format', 'json'], { env, timeout: 300_000 }, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') {
        return reject(error);
      }
      const output = stdout.trim() ? JSON.parse(stdout) : {};
      resolve({ code: error?.code ?? 0, result: output.result, stderr });
    });
  });
}

const call = (t, example, name, args) => inspect(t, example, '--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args));

for (const [example, tools] of Object.entries(examples)) {
  test(`${example}: lists its tools, whose schemas any client can take`, async (t) => {
    const { code, result, stderr } = await inspect(t, example, '--method', 'tools/list', '--strict');
    assert.equal(code, 0, stderr);
    assert.deepEqual(result.tools.map((tool) => tool.name), tools);
  });
}

const calls = [
  ['00-hello', 'hello', { name: 'Ada' }, 'Hello, Ada!'],
  ['01-arguments', 'convert', { value: 0, from: 'celsius', to: 'kelvin' }, '{"value":273.15,"unit":"kelvin"}'],
  ['02-progress', 'countdown', { from: 2, pause: 0 }, '2 1 lift-off!'],
  ['03-roots', 'read-file', { path: 'README.md', lines: 1 }, '# 03-roots\n'], // the Inspector can name roots, and names none by default
  ['04-embedded', 'swatch', { color: '#00ff00' }, '#00ff00'],
  ['05-elicitation', 'order-pizza', { size: 'large', toppings: ['capers'], confirmed: true }, '{"success":true,"result":{"size":"large","toppings":["capers"]}}'],
  ['06-wrap-cli', 'audit', {}, '{"items":4,"pieces":1467}'],
  ['08-any-language', 'letters', { text: 'aba' }, '{"a":2,"b":1}\n'],
  ['13-registry', 'add-note', { title: 'a', text: 'b' }, 'notes/a.md'],
  ['15-asking', 'release', { version: '0.9.9', changes: 'b', kind: 'minor' }, '{"version":"0.10.0","notes":"b"}'],
  ['14-mcp-app', 'move-card', { cardId: 'bike', toColumn: 'done' }, 'Moved "Repair the bike" to done'],
  ['20-long-calls', 'wait-for-file', { file: 'README.txt' }, 'Files for the tool wait-for-file.'],
];

for (const [example, name, args, text] of calls) {
  test(`${example}: ${name}`, async (t) => {
    const { code, result, stderr } = await call(t, example, name, args);
    assert.equal(code, 0, stderr);
    assert.equal(result.isError, false);
    assert.equal(result.content[0].text, text);
  });
}

test('07-download: an error result', async (t) => {
  const { code, result } = await call(t, '07-download', 'fetch', { url: 'http://example.com/', name: 'x' });
  assert.equal(code, 5); // the Inspector's for isError
  assert.equal(result.structuredContent.error.type, 'invalid_url');
});

test('01-arguments: an error of the protocol', async (t) => {
  const { code, stderr } = await call(t, '01-arguments', 'box', { text: 'x', width: 1 });
  assert.equal(code, 1);
  assert.match(stderr, /\.width must be >= 10/);
});

test('11-prompts: lists and fills in', async (t) => {
  const list = await inspect(t, '11-prompts', '--method', 'prompts/list');
  assert.equal(list.code, 0, list.stderr);
  assert.deepEqual(list.result.prompts.map((prompt) => prompt.name), ['explain', 'shape']);
  const { code, result, stderr } = await inspect(t, '11-prompts', '--method', 'prompts/get', '--prompt-name', 'shape', '--prompt-args', 'shape=disc', 'language=French');
  assert.equal(code, 0, stderr);
  assert.deepEqual(result.messages.map(({ content }) => content.type), ['text', 'image', 'text', 'image']);
});

test('09-resources: lists and reads', async (t) => {
  const list = await inspect(t, '09-resources', '--method', 'resources/list');
  assert.equal(list.code, 0, list.stderr);
  const motto = list.result.resources.find((resource) => resource.name === 'motto');
  const { code, result, stderr } = await inspect(t, '09-resources', '--method', 'resources/read', '--uri', motto.uri);
  assert.equal(code, 0, stderr);
  assert.equal(result.contents[0].text, 'Time and tide wait for no one.');
});

test('10-provider: lists templates', async (t) => {
  const { code, result, stderr } = await inspect(t, '10-provider', '--method', 'resources/templates/list');
  assert.equal(code, 0, stderr);
  assert.equal(result.resourceTemplates[0].uriTemplate, 'stock://{article}');
});

test('over HTTP: lists, calls, and both kinds of errors', async (t) => {
  const said = directory(t);
  const { address, stop } = await serve(said, environment(t, copyOf(t, '01-arguments')));
  t.after(stop);
  const ask = (...args) => run(t, address, '--transport', 'http', '--method', ...args);
  const list = await ask('tools/list', '--strict');
  assert.equal(list.code, 0, list.stderr);
  assert.deepEqual(list.result.tools.map(({ name }) => name), examples['01-arguments']);
  const convert = (args) => ask('tools/call', '--tool-name', 'convert', '--tool-args-json', JSON.stringify(args));
  const { code, result, stderr } = await convert({ value: 0, from: 'celsius', to: 'kelvin' });
  assert.equal(code, 0, stderr);
  assert.deepEqual(result.structuredContent, { value: 273.15, unit: 'kelvin' });
  assert.equal((await convert({ value: -1, from: 'kelvin', to: 'celsius' })).code, 5);
  const box = await ask('tools/call', '--tool-name', 'box', '--tool-args-json', '{"text":"x","width":1}');
  assert.equal(box.code, 1);
  assert.match(box.stderr, /\.width must be >= 10/);
});

/** An OpenID provider: where it describes itself, and what signs access tokens. */
async function provider(t) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const web = createServer((request, response) => {
    const answer = request.url === '/keys' ? { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] } :
      { issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t`, id_token_signing_alg_values_supported: ['RS256'] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise((resolve) => { web.listen(0, '127.0.0.1', resolve); });
  t.after(() => web.close());
  const issuer = `http://127.0.0.1:${web.address().port}`;
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (claims) => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const signed = `${part({ alg: 'RS256', kid: 'one', typ: 'at+jwt' })}.${part({ iss: issuer, sub: 'ada', exp, iat: exp - 600, ...claims })}`;
    return `${signed}.${createSign('sha256').update(signed).sign(privateKey, 'base64url')}`;
  };
  return { issuer, token };
}

test('through TLS, with access tokens of an OpenID provider', async (t) => {
  const dir = directory(t);
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const { issuer, token } = await provider(t);
  const audience = 'https://mcp.example.com/mcp';
  const child = spawn(server, ['serve', '--http', '127.0.0.1:0', '--tls-cert', cert, '--tls-key', key, '--oidc-issuer', issuer,
    '--oidc-audience', audience, '--public-url', audience], { env: environment(t, copyOf(t, '00-hello')), stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => { child.on('close', resolve); });
  t.after(async () => {
    child.kill();
    await ended;
  });
  let printed = '';
  const address = await new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const found = /https:\S+/.exec(printed);
      if (found) resolve(found[0]);
    });
    ended.then(() => reject(new Error(printed)));
  });
  const ask = (bearer) => run(t, { NODE_EXTRA_CA_CERTS: cert }, address, '--transport', 'http', '--header', `Authorization: Bearer ${bearer}`, '--method', 'tools/list');
  const list = await ask(token({ aud: audience }));
  assert.equal(list.code, 0, list.stderr);
  assert.deepEqual(list.result.tools.map(({ name }) => name), ['hello']);
  for (const bad of [token({ aud: 'https://another.example.com' }), token({ aud: audience, exp: 1 })]) {
    assert.notEqual((await ask(bad)).code, 0);
  }
});
