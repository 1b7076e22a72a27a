# Completes dragoman's commands and options: source <(dragoman completion bash)
_dragoman() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values= name kind help
  local names=() given=("${COMP_WORDS[@]:0:COMP_CWORD}")
  while IFS=: read -r name kind help; do
    names+=("$name")
    [[ $name == "$before" ]] && values=$kind
  done < <("${given[@]:0:2}" --help=completion "${given[@]:2:1}" 2>/dev/null) # which may name a figure
  COMPREPLY=()
  if [[ $values == *'|'* ]]; then
    COMPREPLY=($(compgen -W "${values//|/ }" -- "$word"))
  elif [[ -z $values && ($word == -* || ${names[0]} != -*) ]]; then
    COMPREPLY=($(compgen -W "${names[*]}" -- "$word"))
  fi # or else files
}
complete -o default -F _dragoman dragoman
