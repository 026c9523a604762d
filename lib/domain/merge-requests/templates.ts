/** UTF-8 bytes of a message; what is longer is cut. */
export const MAX_MESSAGE_BYTES = 2 ** 20;

const VARIABLE = /%\{([a-z_]+)\}/g;
const ONLY_VARIABLE = /^%\{([a-z_]+)\}$/;

/** The variables that a template names: only what they stand for has to be read. */
export function variablesOf(template: string): ReadonlySet<string> {
  return new Set([...template.matchAll(VARIABLE)].map(([, name]) => name!));
}

/**
 * Replaces the variables of a template, `%{title}`, by their values. What is no variable stays as it is. A line that
 * is a variable without a value goes, and with it one of two blank lines around it. Values are not searched for variables.
 * @param values undefined for what is no variable
 * @returns at most {@link MAX_MESSAGE_BYTES}
 */
export function filled(template: string, values: (name: string) => string | undefined): string {
  const lines: string[] = [];
  let left = MAX_MESSAGE_BYTES;
  // A blank line that follows a line that went, and one before it.
  let skipsBlank = false;
  for (const line of template.replaceAll('\r', '').split('\n')) {
    const only = ONLY_VARIABLE.exec(line)?.[1];
    if (only !== undefined && values(only)?.trim() === '') {
      skipsBlank = lines.length === 0 || lines.at(-1) === '';
      continue;
    }
    if (skipsBlank && line === '') {
      skipsBlank = false;
      continue;
    }
    skipsBlank = false;
    const text = cut(
      line.replace(VARIABLE, (written, name: string) => values(name) ?? written),
      left,
    );
    lines.push(text);
    left -= Buffer.byteLength(text) + 1;
    if (left <= 0) break;
  }
  // The blank line before one that went at the end.
  while (skipsBlank && lines.at(-1) === '') lines.pop();
  return lines.join('\n');
}

/** The start of a text, in whole characters. @param bytes at most so many in UTF-8 */
export function cut(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const start = Buffer.from(text.slice(0, bytes));
  if (start.length <= bytes && text.length <= bytes) return text;
  let end = Math.min(bytes, start.length);
  while (end > 0 && (start[end]! & 0xc0) === 0x80) end--;
  return start.toString('utf8', 0, end);
}
