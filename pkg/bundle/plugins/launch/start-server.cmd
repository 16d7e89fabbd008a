@echo off
rem Starts the server of this plugin on Windows. Agents run it; it prints nothing.
setlocal
set "MCPBASH_PLUGIN_ROOT=%~dp0."
set "MCPBASH_PROJECT_ROOT=%~dp0server"
if not defined MCPBASH_TOOL_ALLOWLIST set "MCPBASH_TOOL_ALLOWLIST=*"
@settings@
set "program=%~dp0server\.mcp-bash\bin\windows-amd64\mcp-bash.exe"
if /i "%PROCESSOR_ARCHITECTURE%"=="ARM64" if exist "%~dp0server\.mcp-bash\bin\windows-arm64\mcp-bash.exe" set "program=%~dp0server\.mcp-bash\bin\windows-arm64\mcp-bash.exe"
"%program%" %*
