import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** One import statement. Paths are relative to the repository; packages keep their names. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** Nothing of it is left when the code runs. */
  readonly typeOnly: boolean;
}

/** TypeScript files below a folder. */
export function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

const STATEMENT =
  /^\s*(?:import|export)\s+(type\s+)?(?:([\w*{}\s,$]+?)\s+from\s+)?'([^']+)'|import\('([^']+)'\)/gm;

export function importsOf(file: string, text = textOf(file)): Import[] {
  return [...text.matchAll(STATEMENT)].map(([, type, names, target = '', dynamic]) => {
    const to = dynamic ?? target;
    return {
      from: file,
      to: to.startsWith('.') ? normalize(join(dirname(file), to)) : to,
      typeOnly: type !== undefined || namesTypesOnly(names),
    };
  });
}

/** `{ type A, type B }`: the compiler removes such a statement as it does `import type`. */
function namesTypesOnly(names: string | undefined): boolean {
  const listed = names?.match(/^\{([^}]*)\}$/)?.[1];
  if (listed === undefined) return false;
  const items = listed.split(',').map((name) => name.trim());
  return items.every((name) => name === '' || name.startsWith('type '));
}
