// What all tests of agents share: a home with a project, and how agents tell of the servers that they see.
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, chmodSync, mkdirSync, appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import assert from 'node:assert/strict';

export const { AGENTS, BIN } = process.env;
if (!AGENTS || !BIN) {
  throw new Error('run these tests with test/agents/run.sh');
}

/** How long an agent may take. */
const patience = 120_000;

/** A new home with a scaffolded project, and a way to run programs there. */
export async function place(t) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-bash-agents-')));
  chmodSync(home, 0o755);
  t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const p = { home, project: home, env: {} };
  p.start = (program, ...args) => spawn(program, args, {
    cwd: p.project,
    env: {
      HOME: home, PWD: p.project, TERM: 'dumb', LANG: 'C.UTF-8', NO_COLOR: '1',
      PATH: [BIN, join(AGENTS, 'node_modules', '.bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(':'), ...p.env, ...p.secret,
    },
  });
  p.run = (program, ...args) => new Promise((resolve, reject) => {
    const child = p.start(program, ...args);
    let out = '';
    child.stdin.end();
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => { out += text; });
    }
    const timer = setTimeout(() => child.kill('SIGKILL'), patience);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, out });
    });
  });
  p.config = async (...args) => {
    const { code, out } = await p.run('mcp-scaffold', 'config', ...args);
    assert.equal(code, 0, out);
    return out;
  };
  const { code, out } = await p.run('mcp-scaffold', 'new', 'demo');
  assert.equal(code, 0, out);
  p.project = join(home, 'demo');
  return p;
}

/** Whether what a program prints says so. */
export const says = (program, args, pattern) => async (p) => {
  const { out } = await p.run(program, ...args);
  return { yes: pattern.test(out), out };
};

/** The answer of Codex's own server for editors to a request, and all its output. */
export async function codexAnswers(p, method, params) {
  const child = p.start('codex', 'app-server');
  const timer = setTimeout(() => child.kill('SIGKILL'), patience);
  let out = '';
  for (const message of [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } },
    { method: 'initialized' },
    { id: 2, method, params },
  ]) {
    child.stdin.write(JSON.stringify(message) + '\n');
  }
  const answer = await new Promise((resolve) => {
    child.on('close', () => resolve(undefined));
    child.stderr.resume();
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
      const line = out.split('\n').slice(0, -1).find((one) => one.startsWith('{"id":2,'));
      if (line) resolve(JSON.parse(line));
    });
  });
  clearTimeout(timer);
  child.stdin.end();
  child.kill();
  return { data: answer?.result?.data ?? [], out };
}

/** Whether Codex, which starts its MCP servers for that, sees the tool. */
export async function codexStatus(p) {
  const { data, out } = await codexAnswers(p, 'mcpServerStatus/list', {});
  return { yes: data.some((s) => s.name === 'demo' && s.tools.hello), out };
}

/** Whether a program that runs one prompt offers a tool to its model, for which a server of ours stands in. */
export const offers = (program, args, settings, pattern) => async (p) => {
  let offered = '';
  const model = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => {
      offered += body;
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no model"}}');
    });
  });
  await new Promise((resolve) => { model.listen(0, '127.0.0.1', resolve); });
  settings(p, `http://127.0.0.1:${model.address().port}/v1`);
  const { out } = await p.run(program, ...args);
  model.close();
  return { yes: pattern.test(offered), out: `${out}\n${offered}` };
};

export const both = (...checks) => async (p) => {
  let all = '';
  for (const check of checks) {
    const { yes, out } = await check(p);
    all += out;
    if (!yes) return { yes, out: all };
  }
  return { yes: true, out: all };
};

/** Appends to a file of the home, as somebody does who trusts the project. */
export function write(p, name, text) {
  const file = join(p.home, name);
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, text);
}

/** What agents asked of the servers that they have started since the last time, and what was wrong with the answers. */
export function said() {
  const files = readdirSync(join(BIN, 'said')).map((name) => join(BIN, 'said', name));
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  for (const file of files) rmSync(file);
  const marked = (mark) => lines.filter((line) => line.startsWith(`${mark} `)).map((line) => line.slice(2));
  const requests = marked('>').map((line) => JSON.parse(line)).filter(({ id }) => id !== undefined);
  return { requests, faults: marked('!'), roots: marked('=') };
}
