#compdef dragoman
# Completes dragoman's commands and options: source <(dragoman completion zsh)
_dragoman() {
  local values= line name kind
  local -a found given
  given=($words[1,CURRENT-1])
  for line in "${(@f)$($given[1,2] --help=completion $given[3] 2>/dev/null)}"; do # which may name a figure
    name=${line%%:*} kind=${${line#*:}%%:*}
    found+=("$name:${line#*:*:}")
    [[ $name == $words[CURRENT-1] ]] && values=$kind
  done
  if [[ $values == *'|'* ]]; then
    compadd -- ${(s:|:)values}
  elif [[ -z $values && ( $words[CURRENT] == -* || $found[1] != -* ) ]]; then
    _describe dragoman found
  else
    _files
  fi
}
compdef _dragoman dragoman
