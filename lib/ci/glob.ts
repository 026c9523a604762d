/** Patterns of paths in `rules:changes`, `rules:exists` and `include:local`, as Ruby's `File.fnmatch` knows them. */
import { PatternError, type UserPattern, userPattern } from '../regexp/user-pattern.ts';

/** `*` and `?` stop at a slash, two stars with a slash stand for any folders, `{a,b}` for either, `[a-z]` for a character. */
export async function pathPattern(glob: string): Promise<UserPattern | undefined> {
  try {
    return await userPattern(`^(?:${sourceOf(glob)})$`);
  } catch (error) {
    // One that is too large, or no pattern, matches nothing.
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

export const isGlob = (path: string): boolean => /[*?[{]/.test(path);

const PART = /\*\*\/|\*+|\?|\[(!|\^)?(\]?[^\]]*)\]|\\([\s\S])|[{},]|[\s\S]/gu;

function sourceOf(glob: string): string {
  let source = '';
  let open = 0;
  for (const [part, negated, characters, escaped] of glob.matchAll(PART)) {
    if (part === '**/') source += '(?:[^/]*/)*';
    else if (part.startsWith('*')) source += '[^/]*';
    else if (part === '?') source += '[^/]';
    else if (characters !== undefined)
      source += `[${negated === undefined ? '' : '^'}${characters.replace(/[\\[\]^]/g, String.raw`\$&`)}]`;
    else if (escaped !== undefined) source += quoted(escaped);
    else if (part === '{' && glob.includes('}')) {
      open++;
      source += '(?:';
    } else if (part === '}' && open > 0) {
      open--;
      source += ')';
    } else if (part === ',' && open > 0) source += '|';
    else source += quoted(part);
  }
  return source + ')'.repeat(open);
}

const quoted = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`);
