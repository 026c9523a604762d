import { type Entry, isText } from './problems.ts';

const MAX_NESTING = 10;

/** Commands, of which references make lists in lists; as one list. */
export const script: Entry<readonly string[]> = (value, path, problems) => {
  if (isText(value)) return [value];
  const lines = Array.isArray(value) ? flattened(value, 1) : undefined;
  return (
    lines ??
    problems.add(
      path,
      `config should be a string or a nested array of strings up to ${MAX_NESTING} levels deep`,
    )
  );
};

function flattened(list: readonly unknown[], depth: number): string[] | undefined {
  if (depth > MAX_NESTING) return undefined;
  const lines: string[] = [];
  for (const item of list) {
    const inner = isText(item) ? [item] : Array.isArray(item) ? flattened(item, depth + 1) : undefined;
    if (inner === undefined) return undefined;
    for (const line of inner) lines.push(line);
  }
  return lines;
}
