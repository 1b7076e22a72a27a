#compdef dragoman
# Completes dragoman's commands and options: source <(dragoman completion zsh)
_dragoman() {
  local command= values= line name kind
  local -a found
  (( CURRENT > 2 )) && command=$words[2]
  for line in "${(@f)$($words[1] $command --help=completion 2>/dev/null)}"; do
    name=${line%%:*} kind=${${line#*:}%%:*}
    found+=("$name:${line#*:*:}")
    [[ $name == $words[CURRENT-1] ]] && values=$kind
  done
  if [[ $values == *'|'* ]]; then
    compadd -- ${(s:|:)values}
  elif [[ -z $values && ( $words[CURRENT] == -* || -z $command ) ]]; then
    _describe dragoman found
  else
    _files
  fi
}
compdef _dragoman dragoman
