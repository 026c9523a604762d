/** An item of a list: `- [ ] text`, `* [x] text`, `1. [x] text`, also in quotes. */
const ITEM = /^[\s>]{0,100}(?:[-*+]|\d{1,9}[.)])\s{1,4}\[([ xX])\](?:\s|$)/;
const FENCE = /^[\s>]{0,100}(`{3,}|~{3,})/;

/** Counts the items of task lists in a text, without those in fenced code. */
export function tasksOf(text: string | null): {
  readonly count: number;
  readonly completed: number;
} {
  let [count, completed] = [0, 0];
  let fence: string | undefined;
  for (const line of (text ?? '').split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) {
      fence = mark;
    } else {
      const item = ITEM.exec(line);
      if (item === null) continue;
      count++;
      if (item[1] !== ' ') completed++;
    }
  }
  return { count, completed };
}
