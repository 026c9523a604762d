/** Variables as a configuration, an expression or a template of a name sees them: all values are text. */
export type Variables = ReadonlyMap<string, string>;

const NAME = String.raw`[A-Za-z_]\w*`;
const PLACE = new RegExp(String.raw`\$\$|\$(${NAME})|\$\{(${NAME})\}|%(${NAME})%`, 'g');

/** Characters of a text after its variables were put in. */
const MAX_EXPANDED = 100_000;

/** Puts values in the place of `$NAME`, `${NAME}` and `%NAME%`; an unknown one is empty. `$$` stays as it is. */
export function expand(text: string, variables: Variables): string {
  return text
    .replace(PLACE, (whole, plain, braced, percent) =>
      whole === '$$' ? whole : (variables.get(plain ?? braced ?? percent) ?? ''),
    )
    .slice(0, MAX_EXPANDED);
}
