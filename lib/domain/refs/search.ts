/** `term` matches anywhere, `^term` at the start, `term$` at the end, `^term$` the whole name; case-insensitive. */
export function nameMatcher(search: string | undefined): (name: string) => boolean {
  if (search === undefined || search === '') return () => true;
  const start = search.startsWith('^');
  const end = search.length > 1 && search.endsWith('$');
  const term = search.slice(start ? 1 : 0, end ? -1 : undefined).toLowerCase();
  return (name) => {
    const text = name.toLowerCase();
    if (start && end) return text === term;
    if (start) return text.startsWith(term);
    return end ? text.endsWith(term) : text.includes(term);
  };
}
