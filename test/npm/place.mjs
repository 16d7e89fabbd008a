// What the tests share: the server, copies of the examples, and the packages of
// the folder that install.sh has filled.
import { cpSync, mkdtempSync, rmSync, realpathSync, chmodSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.env.MCPBASH_TEST_NPM;
if (!folder || !process.env.MCPBASH_TEST_BIN) {
  throw new Error('run these tests with test/npm/run.sh');
}

/** A package of the folder. */
export const load = createRequire(join(folder, 'package.json'));

/** A program of the folder's packages. */
export const program = (name) => join(folder, 'node_modules', '.bin', name);

/** Whether the tests may take long. */
export const long = process.env.MCPBASH_TEST_LONG === '1';

export const server = join(process.env.MCPBASH_TEST_BIN, 'mcp-bash');

/** What stands between a client and the server, and checks each line (test/wire/tap). */
export const tap = join(process.env.MCPBASH_TEST_BIN, 'tap');

/** The examples, each with its tools. */
export const examples = {
  '00-hello': ['hello'],
  '01-arguments': ['box', 'convert'],
  '02-progress': ['checksums', 'countdown'],
  '03-roots': ['list-files', 'read-file', 'show-roots'],
  '04-embedded': ['attach', 'swatch'],
  '05-elicitation': ['link-account', 'order-pizza', 'sign-up'],
  '06-wrap-cli': ['audit', 'stock'],
  '07-download': ['fetch'],
  '08-any-language': ['letters', 'primes'],
  '09-resources': [],
  '10-provider': [],
  '11-prompts': [],
  '12-completion': [],
  '13-registry': ['add-note', 'find-note'],
  '14-mcp-app': ['board', 'move-card', 'roll-dice'],
  '15-asking': ['folders', 'release', 'summarize'],
  '16-wrapped': ['cut', 'find', 'grep', 'sort', 'wc'],
  '17-strangers-tool': ['word-count'],
  '18-library': ['find-book', 'reserve-book'],
  '19-plugin': ['count-files'],
  '20-long-calls': ['show-job', 'start-job', 'wait-for-file', 'task_status', 'task_wait', 'task_cancel'],
  '21-large-results': ['requests', 'result_search'],
};

/** The server's own tools, of which a bundle's manifest knows nothing. */
export const serverTools = ['result_search', 'task_status', 'task_wait', 'task_cancel'];

/** A directory of the test's own, removed with it. */
export function directory(t) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-bash-npm-')));
  chmodSync(dir, 0o755);
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** A copy of an example, so that the repository stays as it is. */
export function copyOf(t, example) {
  const to = join(directory(t), example);
  const from = fileURLToPath(new URL(`../../examples/${example}`, import.meta.url));
  cpSync(from, to, { recursive: true, filter: (name) => !name.endsWith('/.registry') });
  return to;
}

/** The environment of a server for a project. */
export const environment = (t, project) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  XDG_CACHE_HOME: join(process.env.MCPBASH_TEST_BIN, 'cache'),
  TMPDIR: directory(t),
  MCPBASH_PROJECT_ROOT: project,
  MCPBASH_TOOL_ALLOWLIST: '*',
});
