// Calls that take long through mcporter, which calls tools from a shell. Its background process keeps the server between
// two calls.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { copyOf, directory, environment, program, server } from './place.mjs';

test('a call that takes long, in two commands of mcporter', { timeout: 600_000 }, async (t) => {
  const home = directory(t);
  const project = copyOf(t, '20-long-calls');
  const config = join(home, 'mcporter.json');
  writeFileSync(config, JSON.stringify({
    mcpServers: {
      long: { command: server, env: { ...environment(t, project), MCPBASH_TASK_AFTER: '1' }, lifecycle: 'keep-alive' },
    },
  }));
  const env = { PATH: `${dirname(program('node'))}:${process.env.PATH}`, HOME: home };
  const mcporter = async (...args) => {
    const { stdout } = await promisify(execFile)(program('node'), [program('mcporter'), '--config', config, ...args], { env });
    return stdout;
  };
  try {
    const { taskId, status } = JSON.parse(await mcporter('call', 'long.wait-for-file', 'file=a.txt', '--output', 'json'));
    assert.equal(status, 'working');
    const inbox = join(project, 'inbox');
    writeFileSync(join(inbox, '.a.txt'), 'It is here.');
    renameSync(join(inbox, '.a.txt'), join(inbox, 'a.txt')); // complete at once
    let text;
    do {
      text = await mcporter('call', 'long.task_wait', `taskId=${taskId}`);
    } while (text.includes('"status": "working"') || text.includes('State:'));
    assert.equal(text.trim(), 'It is here.');

    const next = JSON.parse(await mcporter('call', 'long.wait-for-file', 'file=never.txt', '--output', 'json'));
    const cancelled = JSON.parse(await mcporter('call', 'long.task_cancel', `taskId=${next.taskId}`, '--output', 'json'));
    assert.equal(cancelled.status, 'cancelled');
    assert.equal(processesOf(home).length, 1);
  } finally { // the directories, which stop needs, go before functions that after gets here
    const daemons = processesOf(home);
    await mcporter('daemon', 'stop');
    while (daemons.some(alive)) await setTimeout(20);
  }
});

/** The background processes whose description is below a home directory. */
function processesOf(home) {
  const folder = join(home, '.mcporter', 'daemon');
  return !existsSync(folder) ? [] : readdirSync(folder).filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).pid).filter(Number.isInteger);
}

function alive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
