import type { FieldProblems } from './errors.ts';

/** Problems by field as a few answers tell them: a hash in the notation of Ruby, within a sentence. */
export function inRuby(problems: FieldProblems): string {
  const fields = Object.entries(problems).map(
    ([field, texts]) => `:${field}=>[${texts.map(quoted).join(', ')}]`,
  );
  return `{${fields.join(', ')}}`;
}

const quoted = (text: string) => `"${text.replace(/["\\]|#(?=[{$@])/g, '\\$&')}"`;
