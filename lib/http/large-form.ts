/** Parses large forms beside other work of the process. */
import { Effort, type Steps } from '../git/work.ts';
import { decode, pairsOf } from './form.ts';
import { type Parameters, ParameterTree } from './rack-params.ts';
import { utf8InSteps } from './utf8.ts';

/** Units of {@link Effort} for each character of a form, and characters that a pair costs in addition. */
const FORM_EFFORT = 5;
const PAIR = 50;
/** Characters that are decoded at once. */
const DECODED = 64 * 1024;

export function* parseLargeForm(bytes: Uint8Array): Steps<Parameters> {
  const tree = new ParameterTree();
  const effort = new Effort();
  for (const [name, value] of pairsOf(yield* utf8InSteps(bytes))) {
    tree.add(yield* decodeLong(name), value === null ? null : yield* decodeLong(value));
    if (effort.spend(FORM_EFFORT * (PAIR + name.length + (value?.length ?? 0)))) yield;
  }
  return tree.root;
}

/** As {@link decode}, a part after another. */
function* decodeLong(text: string): Steps<string> {
  if (text.length <= DECODED) return decode(text);
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = cutBefore(text, at + DECODED);
    parts.push(decode(text.slice(at, end)));
    at = end;
    yield;
  }
  return parts.join('');
}

/** The last place up to `to` that is in no escaped character, which has at most four bytes of three digits each. */
function cutBefore(text: string, to: number): number {
  if (to >= text.length) return text.length;
  for (let end = to; end > to - 12; end--) {
    const begins =
      text[end] === '%'
        ? /[^89ab]/i.test(text[end + 1] ?? '')
        : !text.slice(end - 2, end).includes('%') && !/[\udc00-\udfff]/.test(text[end]!);
    if (begins) return end;
  }
  return to;
}
