# Completes dragoman's commands and options: source <(dragoman completion bash)
_dragoman() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= values= name kind help
  local names=()
  ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}
  while IFS=: read -r name kind help; do
    names+=("$name")
    [[ $name == "$before" ]] && values=$kind
  done < <("${COMP_WORDS[0]}" $command --help=completion 2>/dev/null)
  COMPREPLY=()
  if [[ $values == *'|'* ]]; then
    COMPREPLY=($(compgen -W "${values//|/ }" -- "$word"))
  elif [[ -z $values && ($word == -* || -z $command) ]]; then
    COMPREPLY=($(compgen -W "${names[*]}" -- "$word"))
  fi # or else files
}
complete -o default -F _dragoman dragoman
