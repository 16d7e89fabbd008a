# Fish completion for the commands of mcp-bash. The commands know what may follow.

function __mcp_bash
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files' '*=:files'
                __fish_complete_path $current
            case ':directories' '*=:directories'
                __fish_complete_directories $current
            case '?*'
                echo $line
        end
    end
end
for command in mcp-bash mcp-runtool mcp-registry mcp-scaffold mcp-doctor mcp-bundle
    complete -c $command -f -a '(__mcp_bash)'
end
