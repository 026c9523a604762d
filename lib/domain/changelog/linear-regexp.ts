import {
  BadExpression,
  type CharacterTest,
  isWord,
  parseExpression,
  type Term,
} from './linear-regexp-syntax.ts';

type Instruction =
  | { readonly kind: 'character'; readonly matches: CharacterTest }
  | { readonly kind: 'assertion'; readonly holds: Extract<Term, { kind: 'assertion' }>['holds'] }
  | { readonly kind: 'save'; readonly slot: number }
  /** `first` is preferred. */
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'match' };

/** What is left to be spent on searches; a million steps take about half a second. Below zero it is used up. */
export interface Effort {
  steps: number;
}

/** What a counted repetition may unfold to. */
const MAX_INSTRUCTIONS = 1000;

/**
 * A regular expression of somebody else's. All ways through it are followed at the same time (Pike's machine; Russ Cox,
 * "Regular Expression Matching: the Virtual Machine Approach"), so a search takes steps in proportion to the length of
 * the text times that of the expression, whatever they are: there is nothing to go back to.
 */
export class LinearRegExp {
  readonly #program: readonly Instruction[];
  readonly #groups: readonly string[];

  /** @throws BadExpression */
  constructor(source: string) {
    const { term, groups } = parseExpression(source);
    const program: Instruction[] = [];
    compile(term, program);
    program.push({ kind: 'match' });
    this.#program = program;
    this.#groups = groups;
  }

  /**
   * The named groups of the first match, those that took part; undefined without a match.
   * @param effort what is spent is taken off
   */
  exec(text: string, effort: Effort = { steps: Infinity }): ReadonlyMap<string, string> | undefined {
    const characters = [...text];
    const slots = search(this.#program, characters, effort);
    if (slots === undefined) return undefined;
    const found = new Map<string, string>();
    for (const [index, name] of this.#groups.entries()) {
      const [start, end] = [slots[2 * index], slots[2 * index + 1]];
      if (start !== undefined && end !== undefined) found.set(name, characters.slice(start, end).join(''));
    }
    return found;
  }
}

function compile(term: Term, program: Instruction[]): void {
  const emit = <I extends Instruction>(instruction: I): I => {
    if (program.length >= MAX_INSTRUCTIONS) throw new BadExpression('pattern too large');
    program.push(instruction);
    return instruction;
  };
  const split = () => emit({ kind: 'split', first: program.length + 1, second: 0 });
  switch (term.kind) {
    case 'character':
    case 'assertion':
      emit(term);
      return;
    case 'sequence':
      for (const item of term.items) compile(item, program);
      return;
    case 'group':
      emit({ kind: 'save', slot: 2 * term.index });
      compile(term.body, program);
      emit({ kind: 'save', slot: 2 * term.index + 1 });
      return;
    case 'choice': {
      const ends: Extract<Instruction, { kind: 'split' }>[] = [];
      for (const [i, option] of term.options.entries()) {
        const last = i === term.options.length - 1;
        const fork = last ? undefined : split();
        compile(option, program);
        if (!last) ends.push(split());
        if (fork !== undefined) fork.second = program.length;
      }
      for (const end of ends) end.first = end.second = program.length;
      return;
    }
    case 'repeat': {
      const { body, min, max, lazy } = term;
      const skips: Extract<Instruction, { kind: 'split' }>[] = [];
      const optional = () => skips.push(split());
      for (let n = 0; n < min; n++) {
        const before = program.length;
        compile(body, program);
        // Nothing, however often, is nothing.
        if (program.length === before) break;
      }
      if (max === Infinity) {
        const start = program.length;
        optional();
        compile(body, program);
        const back = split();
        back.first = back.second = start;
      } else {
        for (let n = min; n < max; n++) {
          optional();
          compile(body, program);
        }
      }
      for (const skip of skips) {
        skip.second = program.length;
        if (lazy) [skip.first, skip.second] = [skip.second, skip.first];
      }
    }
  }
}

/** A place in the program, with where groups began and ended on the way to it. */
interface Thread {
  readonly at: number;
  readonly slots: readonly (number | undefined)[];
}

function search(
  program: readonly Instruction[],
  text: readonly string[],
  effort: Effort,
): Thread['slots'] | undefined {
  const [first] = program;
  const anchored = first?.kind === 'assertion' && first.holds === 'start';
  let threads: Thread[] = [];
  let found: Thread['slots'] | undefined;
  for (let position = 0; position <= text.length; position++) {
    const reached = new Uint8Array(program.length);
    const here: Thread[] = [];
    for (const thread of threads) follow(program, thread, position, text, reached, here);
    // Of matches the one that begins first counts.
    const begins = found === undefined && (position === 0 || !anchored);
    if (begins) follow(program, { at: 0, slots: [] }, position, text, reached, here);
    else if (here.length === 0) break;
    effort.steps -= reached.reduce((sum, one) => sum + one, 1);
    threads = [];
    const code = position < text.length ? text[position]!.codePointAt(0)! : undefined;
    for (const { at, slots } of here) {
      const instruction = program[at]!;
      if (instruction.kind === 'match') {
        found = slots;
        // Those behind are less preferred.
        break;
      }
      if (instruction.kind === 'character' && code !== undefined && instruction.matches(code))
        threads.push({ at: at + 1, slots });
    }
  }
  return found;
}

/** Adds the characters and matches that a thread leads to without reading on, the preferred first, each once. */
function follow(
  program: readonly Instruction[],
  from: Thread,
  position: number,
  text: readonly string[],
  reached: Uint8Array,
  into: Thread[],
): void {
  const open = [from];
  for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
    const { at, slots } = thread;
    if (reached[at] === 1) continue;
    reached[at] = 1;
    const instruction = program[at]!;
    switch (instruction.kind) {
      case 'split':
        open.push({ at: instruction.second, slots }, { at: instruction.first, slots });
        break;
      case 'save': {
        const saved = [...slots];
        saved[instruction.slot] = position;
        open.push({ at: at + 1, slots: saved });
        break;
      }
      case 'assertion':
        if (holds(instruction.holds, position, text)) open.push({ at: at + 1, slots });
        break;
      default:
        into.push(thread);
    }
  }
}

function holds(
  what: Extract<Term, { kind: 'assertion' }>['holds'],
  position: number,
  text: readonly string[],
): boolean {
  if (what === 'start') return position === 0;
  if (what === 'end') return position === text.length;
  const wordAt = (at: number) => at >= 0 && at < text.length && isWord(text[at]!.codePointAt(0)!);
  return (wordAt(position - 1) !== wordAt(position)) === (what === 'word-boundary');
}
