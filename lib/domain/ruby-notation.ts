import type { FieldProblems } from './errors.ts';

/** Problems by field as a Ruby hash literal, which a few error texts contain. */
export function inRuby(problems: FieldProblems): string {
  const fields = Object.entries(problems).map(
    ([field, texts]) => `:${field}=>[${texts.map(quoted).join(', ')}]`,
  );
  return `{${fields.join(', ')}}`;
}

const quoted = (text: string) => `"${text.replace(/["\\]|#(?=[{$@])/g, '\\$&')}"`;
