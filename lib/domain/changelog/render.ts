import { type Node, type Path, type Template, TemplateError } from './template.ts';

/** Data of a template. */
export type Data = null | string | number | boolean | readonly Data[] | { readonly [name: string]: Data };

export interface RenderLimits {
  /** Characters of text. */
  readonly output: number;
  /** Nodes evaluated, which bounds the time. */
  readonly steps: number;
}

const LIMITS: RenderLimits = { output: 2_000_000, steps: 2_000_000 };

/**
 * Renders a template. Names are looked up in the current value only: within a loop, in its current element. Missing
 * values, lists and objects render as empty text.
 *
 * @throws TemplateError beyond the limits
 */
export function renderTemplate({ nodes }: Template, data: Data, limits: RenderLimits = LIMITS): string {
  const parts: string[] = [];
  let [length, steps] = [0, 0];
  const write = (text: string): void => {
    length += text.length;
    if (length > limits.output) throw new TemplateError('the template produces too much text');
    parts.push(text);
  };
  const run = (body: readonly Node[], scope: Data): void => {
    for (const node of body) {
      if (++steps > limits.steps) throw new TemplateError('the template takes too long');
      if (node.kind === 'text') write(node.text);
      else if (node.kind === 'value') write(textOf(valueAt(node.path, scope)));
      else if (node.kind === 'if') run(isTrue(valueAt(node.path, scope)) ? node.body : node.otherwise, scope);
      else
        for (const element of elementsOf(valueAt(node.path, scope))) {
          if (++steps > limits.steps) throw new TemplateError('the template takes too long');
          run(node.body, element);
        }
    }
  };
  run(nodes, data);
  return parts.join('');
}

function valueAt(path: Path, scope: Data): Data {
  let value = scope;
  for (const step of path) {
    if (step === 'it') continue;
    if (typeof value !== 'object' || value === null) return null;
    if (typeof step === 'number') value = isList(value) ? (value[step] ?? null) : null;
    else value = !isList(value) && Object.hasOwn(value, step) ? value[step]! : null;
  }
  return value;
}

/** Zero is true; an empty text, list or object is false. */
function isTrue(value: Data): boolean {
  if (typeof value === 'string' || isList(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== null && value !== false;
}

/** The elements of a list, or the name-value pairs of an object. */
function elementsOf(value: Data): readonly Data[] {
  if (typeof value !== 'object' || value === null) return [];
  return isList(value) ? value : Object.entries(value);
}

const textOf = (value: Data): string => (value === null || typeof value === 'object' ? '' : String(value));

const isList = (value: Data): value is readonly Data[] => Array.isArray(value);
