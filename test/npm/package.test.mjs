// Packages of projects, published to a real registry and started by npx in an empty home, as their users do.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { copyOf, directory, load, program, server } from './place.mjs';

const bundler = `${server.slice(0, -'mcp-bash'.length)}mcp-bundle`;
const path = `${program('')}:${process.env.PATH}`;

/** Runs a program to its end, with a text on its standard input. */
const run = (file, args, { input = '', ...options } = {}) => new Promise((resolve) => {
  const child = execFile(file, args, { timeout: 120_000, maxBuffer: 1 << 26, ...options }, (error, stdout, stderr) =>
    resolve({ status: error ? (error.code ?? error.signal) : 0, stdout, stderr }));
  child.stdin.on('error', () => {}); // it may have ended
  child.stdin.end(input);
});

async function succeed(file, args, options) {
  const result = await run(file, args, options);
  assert.equal(result.status, 0, `${file} ${args.join(' ')}: ${result.stdout}${result.stderr}`);
  return result.stdout;
}

const freePort = () => new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});

/** Starts a registry, and returns its address and a function that ends it. */
async function registry(t) {
  const dir = directory(t);
  const port = await freePort();
  writeFileSync(join(dir, 'config.yaml'), `storage: ./storage
auth: {htpasswd: {file: ./htpasswd, max_users: -1}}
uplinks: {}
packages: {'**': {access: $all, publish: $all, unpublish: $all}}
max_body_size: 100mb
log: {type: stdout, level: warn}
`);
  const child = spawn(program('node'), [load.resolve('verdaccio/bin/verdaccio'), '--config', join(dir, 'config.yaml'),
    '--listen', `127.0.0.1:${port}`], { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: path, HOME: dir } });
  let said = '';
  child.stdout.on('data', (text) => { said += text; });
  child.stderr.on('data', (text) => { said += text; });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const end = async () => { child.kill(); await ended; };
  t.after(end);
  const url = `http://127.0.0.1:${port}/`;
  for (;;) {
    try {
      if ((await fetch(`${url}-/ping`)).ok) return { url, end };
    } catch {
      assert.equal(child.exitCode, null, `the registry has ended: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The environment of somebody with an empty home and this registry. */
function user(t, url) {
  const home = directory(t);
  writeFileSync(join(home, '.npmrc'), `registry=${url}\n//${url.slice('http://'.length)}:_authToken=x\nupdate-notifier=false\n`);
  return { PATH: path, HOME: home, TMPDIR: directory(t), XDG_CACHE_HOME: join(home, '.cache') };
}

/** The command of docs/PUBLISH.md that makes packages. */
const make = readFileSync(new URL('../../docs/PUBLISH.md', import.meta.url), 'utf8').match(/^\$ (mcp-bundle npm .*)$/m)[1];

/** Makes the packages of an example and publishes them with the commands that mcp-bundle prints. */
async function publish(t, example, version, env) {
  const project = copyOf(t, example);
  const meta = join(project, 'server.d/server.meta.json');
  writeFileSync(meta, JSON.stringify({ ...JSON.parse(readFileSync(meta)), version }));
  const dist = directory(t);
  const name = `@acme/${JSON.parse(readFileSync(meta)).name}`;
  const [, ...args] = make.replace('@you/my-tools', name).replace(/dist$/, dist).split(' ');
  const said = await succeed(bundler, [...args, '--platform', 'linux', '--arch', process.arch === 'x64' ? 'amd64' : 'arm64',
    '--server-name', `io.github.acme/${example}`], { cwd: project, env });
  const next = said.match(/^Next steps: (npm publish .* && npm publish .*)$/m);
  assert.ok(next, said);
  await succeed('bash', ['-c', next[1]], { cwd: dist, env });
  return { name, dist };
}

/** Calls a tool of a server, whose command is an array, and returns the texts of the result. */
async function call(command, tool, args, env) {
  const ask = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: tool, arguments: args } },
  ].map((m) => `${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`).join('');
  const result = await run(command[0], command.slice(1), { input: ask, env, cwd: env.HOME });
  const answer = result.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)).find(({ id }) => id === 2);
  assert.ok(answer?.result && !answer.result.isError, `${command.join(' ')}: ${result.status} ${result.stdout}${result.stderr}`);
  assert.equal(result.status, 0);
  assert.equal(result.stderr.replace(/^npm (warn|notice).*\n/gm, ''), '');
  return answer.result.content.map(({ text }) => text).join('');
}

test('npx starts three examples in an empty home, and takes an update', async (t) => {
  const { url, end } = await registry(t);
  const author = user(t, url);
  const env = user(t, url);
  const npx = (name) => ['npx', '-y', '--fetch-retries=0', name];
  const { name, dist } = await publish(t, '00-hello', '1.0.0', author);
  assert.match(await call(npx(name), 'hello', { name: 'Ada' }, env), /Hello, Ada!/);
  const made = JSON.parse(await (await fetch(`${url}${name.replace('/', '%2F')}/1.0.0`)).text());
  assert.equal(made.mcpName, 'io.github.acme/00-hello');
  assert.equal(made.scripts, undefined);

  const others = [['01-arguments', 'convert', { value: 1, from: 'celsius', to: 'kelvin' }], ['08-any-language', 'primes', { limit: 10 }]];
  for (const [example, tool, args] of others) {
    const other = await publish(t, example, '1.0.0', author);
    assert.ok((await call(npx(other.name), tool, args, env)).length > 0);
  }

  // What npm publishes again has the bytes of the archive, and a version is published once.
  const again = await run('npm', ['publish', '--access', 'public', readdirSync(dist).find((f) => /hello-1.*tgz$/.test(f))],
    { cwd: dist, env: author });
  assert.notEqual(again.status, 0);
  await publish(t, '00-hello', '1.1.0', author);
  const version = (await succeed('npx', ['-y', `${name}@1.1.0`, '--version'], { env, cwd: env.HOME })).trim();
  assert.match(version, /^mcp-bash /);

  // Without the registry, the version of the cache starts.
  await end();
  assert.match(await call(npx(`${name}@1.1.0`), 'hello', { name: 'Eve' }, env), /Hello, Eve!/);
});

test('an installed package: its status, a missing program, and its removal', async (t) => {
  const { url } = await registry(t);
  const env = user(t, url);
  const { name } = await publish(t, '00-hello', '1.0.0', env);
  const prefix = join(env.HOME, 'global');
  mkdirSync(prefix);
  await succeed('npm', ['install', '-g', '--prefix', prefix, name], { env });
  const command = join(prefix, 'bin', 'hello');
  assert.match(await call([command], 'hello', { name: 'Ada' }, env), /Hello, Ada!/);
  assert.equal((await run(command, ['no-such-command'], { env })).status, 2);

  // A signal to the command ends the server.
  const child = spawn(command, [], { env, stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const ended = new Promise((resolve) => child.on('exit', (status, signal) => resolve(signal ?? status)));
  await new Promise((resolve) => child.once('spawn', resolve));
  child.kill('SIGTERM');
  assert.ok(['SIGTERM', 143].includes(await ended));

  // npm leaves the package with the program out with --omit=optional, and when it fails to fetch it.
  rmSync(join(prefix, 'lib/node_modules', name, 'node_modules'), { recursive: true });
  const missing = await run(command, [], { env });
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /^@acme\/hello: the package @acme\/hello-linux-\S+ is missing; run npm install without --omit=optional\n$/);
  await succeed('npm', ['uninstall', '-g', '--prefix', prefix, name], { env });
  assert.deepEqual(readdirSync(join(prefix, 'bin')), []);
});
