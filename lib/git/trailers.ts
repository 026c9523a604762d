/** A line such as `Signed-off-by: Ada <ada@example.com>` at the end of a commit's message. */
export interface Trailer {
  /** As it is written: letters, digits and `-`. */
  readonly key: string;
  /** Unfolded: one line, without whitespace around it. */
  readonly value: string;
}

/** Trailers that git itself writes: a block with one of them may also contain other lines. */
const GENERATED = ['Signed-off-by: ', '(cherry picked from commit '];
/** `git commit --verbose` shows a diff below this line. */
const SCISSORS = '# ------------------------ >8 ------------------------\n';
/** To git, form feed and vertical tab are not whitespace. */
const BLANK = /^[ \t\r\n]*$/;
const FOLDED = /^[ \t\r]/;
const KEY = /^([A-Za-z0-9-]+)[ \t\r]*:/;

/**
 * The trailers of a message, as `git interpret-trailers --parse --no-divider` prints them: those of its last
 * paragraph, which must not be the title. It counts when all its lines are trailers, or when a quarter of them are and
 * one was written by git (git-interpret-trailers, "DESCRIPTION").
 */
export function parseTrailers(message: string): Trailer[] {
  const lines = textLines(message);
  const block = lines.slice(startOfBlock(lines));
  const folded: string[] = [];
  let open = false;
  for (const line of block) {
    if (open && FOLDED.test(line)) {
      folded.push(`${folded.pop()}\n${line}`);
      continue;
    }
    open = KEY.test(line);
    folded.push(line);
  }
  return folded.flatMap((text) => {
    const head = KEY.exec(text);
    if (head === null) return [];
    return [{ key: head[1]!, value: trimmed(text.slice(head[0].length)).replace(/\n[ \t\r\n]*/g, ' ') }];
  });
}

/** The lines before the scissors line, without the comments, blank lines and list of conflicts at the end. */
function textLines(message: string): string[] {
  const cut = `\n${message}`.indexOf(`\n${SCISSORS}`);
  const lines = (cut < 0 ? message : message.slice(0, cut)).split('\n');
  let end = 0;
  let conflicts = false;
  for (const [index, line] of lines.entries()) {
    const last = index === lines.length - 1;
    if (line === 'Conflicts:' && !last) conflicts = true;
    else if (line !== '' && !line.startsWith('#') && !(conflicts && line.startsWith('\t'))) {
      conflicts = false;
      end = index + 1;
    }
  }
  return lines.slice(0, end);
}

/** @returns the number of lines when there is no block */
function startOfBlock(lines: readonly string[]): number {
  let title = 0;
  while (title < lines.length && BLANK.test(lines[title]!)) title++;
  while (title < lines.length && (isComment(lines[title]!) || !BLANK.test(lines[title]!))) title++;
  let trailers = 0;
  let others = 0;
  // Lines that begin with whitespace: they continue the trailer above them, or count as other lines.
  let continuations = 0;
  let generated = false;
  let blank = true;
  for (let at = lines.length - 1; at >= title; at--) {
    const line = lines[at]!;
    if (isComment(line)) {
      others += continuations;
      continuations = 0;
    } else if (BLANK.test(line)) {
      if (blank) continue;
      others += continuations;
      const found = (generated && trailers * 3 >= others) || (trailers > 0 && others === 0);
      return found ? at + 1 : lines.length;
    } else {
      blank = false;
      const own = GENERATED.some((prefix) => line.startsWith(prefix));
      if (own || KEY.test(line)) {
        trailers++;
        continuations = 0;
        generated ||= own;
      } else if (FOLDED.test(line)) continuations++;
      else {
        others += 1 + continuations;
        continuations = 0;
      }
    }
  }
  return lines.length;
}

const isComment = (line: string) => line.startsWith('#');

/** Not a regular expression: one that ends in `$` takes quadratic time on a line full of spaces. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && SPACE.has(text[start]!)) start++;
  while (end > start && SPACE.has(text[end - 1]!)) end--;
  return text.slice(start, end);
}

const SPACE = new Set(' \t\r\n');
