#!/usr/bin/env node
// Starts the program of the package that npm chose for this system. It prints nothing, because clients read its output.
'use strict'
const { spawn } = require('node:child_process')
const path = require('node:path')

const self = require('./package.json')
const { project, env } = self.mcpBash
const system = `-${process.platform}-${process.arch}`
const runtime = Object.keys(self.optionalDependencies).find((name) => name.endsWith(system))

function fail(reason) {
  console.error(`${self.name}: ${reason}`)
  process.exit(1)
}

function program() {
  if (!runtime) fail(`it does not run on ${process.platform} with ${process.arch}`)
  try {
    const file = process.platform === 'win32' ? 'mcp-bash.exe' : 'mcp-bash'
    return path.join(path.dirname(require.resolve(`${runtime}/package.json`)), 'bin', file)
  } catch {
    fail(`the package ${runtime} is missing; run npm install without --omit=optional`)
  }
}

const settings = { ...env, ...process.env }
if (project) settings.MCPBASH_PROJECT_ROOT = path.join(__dirname, project)
const server = spawn(program(), process.argv.slice(2), { stdio: 'inherit', env: settings })
server.on('error', (error) => fail(error.message))
server.on('exit', (status, signal) => {
  if (!signal) process.exit(status)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal))
