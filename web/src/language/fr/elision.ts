/** A name after the preposition: "de Qwen3", "d’Ollama". Not before h and y, of which only a dictionary knows. */
export function of(name: string): string {
  return /^[aeiou]/i.test(name.normalize("NFD")) ? `d’${name}` : `de ${name}`;
}
