/** One token of RE2's syntax. Whatever is wrong with it is for the parser to say. */
const TOKEN = new RegExp(
  [
    String.raw`\\Q(?<quoted>[^]*?)(?:\\E|$)`,
    String.raw`(?<atom>\\[pPx]\{[^}]*\}|\\x[\da-fA-F]{2}|\\[0-7]{1,3}|\\[^]|\[\^?\]?(?:\\[^]|\[:[^\]]*:\]|[^\]\\])*\])`,
    String.raw`(?<flags>\(\?[a-zA-Z-]+\))`,
    String.raw`(?<open>\((?:\?P?<[^>]*>|\?[a-zA-Z-]*:)?)`,
    String.raw`(?<close>\))`,
    String.raw`(?<or>\|)`,
    String.raw`\{(?<min>\d+)(?<comma>,)?(?<max>\d*)\}`,
    '(?<often>[*+?])',
    '[^]',
  ].join('|'),
  'gu',
);

/**
 * Estimates how many instructions a pattern is compiled to, without compiling it; there are never more than three times
 * as many. The operand of a counted repetition counts as often as it may come. The parser's own limits do not bound that:
 * `(?:...){1000}` with a thousand characters in it takes seconds to compile.
 */
export function unfoldedSize(source: string): number {
  /** For each open group, the size of what stands before it in the group around it. */
  const outer: number[] = [];
  let done = 0;
  /** Size of the operand of a repetition that comes next; the rest of the group is `done`. */
  let last = 0;
  const add = (size: number) => {
    done += last;
    last = size;
  };
  for (const { groups = {} } of source.matchAll(TOKEN)) {
    const { quoted, flags, open, close, or, min, comma, max, often } = groups;
    if (quoted !== undefined) {
      for (const _ of quoted) add(1);
    } else if (flags !== undefined) {
      // A repetition behind flags is of what stands before them.
    } else if (open !== undefined) {
      outer.push(done + last);
      done = last = 0;
    } else if (close !== undefined) {
      last += done + 2;
      done = outer.pop() ?? 0;
    } else if (or !== undefined) add(1);
    else if (min !== undefined) {
      const times = comma === undefined ? Number(min) : max === '' ? Number(min) + 1 : Number(max);
      last = (last + 1) * Math.max(times, 1);
    } else if (often !== undefined) last += 1;
    else add(1);
  }
  return outer.reduce((sum, size) => sum + size, done + last);
}
