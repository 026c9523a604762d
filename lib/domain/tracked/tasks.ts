import { atOnce, Effort, type Steps } from '../../git/work.ts';

/** An item of a list: `- [ ] text`, `* [x] text`, `1. [x] text`, also in quotes. */
const ITEM = /^[\s>]{0,100}(?:[-*+]|\d{1,9}[.)])\s{1,4}\[([ xX])\](?:\s|$)/;
const FENCE = /^[\s>]{0,100}(`{3,}|~{3,})/;

export interface Task {
  readonly text: string;
  readonly completed: boolean;
}

/** Finds the items of task lists in a text, without those in fenced code. */
function* findTasks(text: string, found: (task: Task) => void): Steps<void> {
  const effort = new Effort();
  let fence: string | undefined;
  for (let at = 0; at <= text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (effort.spend(LINE_EFFORT + line.length)) yield;
    at = end + 1;
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) {
      fence = mark;
    } else {
      const item = ITEM.exec(line);
      if (item !== null) found({ text: line.slice(item[0].length).trim(), completed: item[1] !== ' ' });
    }
  }
}

/** Units of {@link Effort} that a line costs. */
const LINE_EFFORT = 50;

/** The items of task lists in a text. */
function tasksIn(text: string | null): Task[] {
  const tasks: Task[] = [];
  atOnce(findTasks(text ?? '', (task) => tasks.push(task)));
  return tasks;
}

/** Counts the items of task lists in a text. */
export function* tasksOf(text: string | null): Steps<{ readonly count: number; readonly completed: number }> {
  const counts = { count: 0, completed: 0 };
  yield* findTasks(text ?? '', ({ completed }) => {
    counts.count++;
    if (completed) counts.completed++;
  });
  return counts;
}

/** The tasks that a change of a text completed, or opened again: each is at its place in both, with the same text. */
export function turnedTasks(before: string | null, after: string | null): Task[] {
  const former = tasksIn(before);
  return tasksIn(after).filter(
    ({ text, completed }, i) => text !== '' && former[i]?.text === text && former[i].completed !== completed,
  );
}
