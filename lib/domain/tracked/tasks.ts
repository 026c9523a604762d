/** An item of a list: `- [ ] text`, `* [x] text`, `1. [x] text`, also in quotes. */
const ITEM = /^[\s>]{0,100}(?:[-*+]|\d{1,9}[.)])\s{1,4}\[([ xX])\](?:\s|$)/;
const FENCE = /^[\s>]{0,100}(`{3,}|~{3,})/;

export interface Task {
  readonly text: string;
  readonly completed: boolean;
}

/** The items of task lists in a text, without those in fenced code. */
export function tasksIn(text: string | null): Task[] {
  const tasks: Task[] = [];
  let fence: string | undefined;
  for (const line of (text ?? '').split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) {
      fence = mark;
    } else {
      const item = ITEM.exec(line);
      if (item !== null) tasks.push({ text: line.slice(item[0].length).trim(), completed: item[1] !== ' ' });
    }
  }
  return tasks;
}

/** Counts the items of task lists in a text. */
export function tasksOf(text: string | null): { readonly count: number; readonly completed: number } {
  const tasks = tasksIn(text);
  return { count: tasks.length, completed: tasks.filter(({ completed }) => completed).length };
}

/** The tasks that a change of a text completed, or opened again: each is at its place in both, with the same text. */
export function turnedTasks(before: string | null, after: string | null): Task[] {
  const former = tasksIn(before);
  return tasksIn(after).filter(
    ({ text, completed }, i) => text !== '' && former[i]?.text === text && former[i].completed !== completed,
  );
}
