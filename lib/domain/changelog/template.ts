/**
 * The template language of changelogs: `{{ value }}`, `{% if value %}…{% else %}…{% end %}`,
 * `{% each list %}…{% end %}`. A statement consumes the following line feed; so does a backslash at the end of a line.
 * Everything else is text.
 */
export interface Template {
  readonly nodes: readonly Node[];
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: Path }
  | { readonly kind: 'if'; readonly path: Path; readonly body: Node[]; readonly otherwise: Node[] }
  | { readonly kind: 'each'; readonly path: Path; readonly body: Node[] };

/** `users.0.name`; `it` is the current value. */
export type Path = readonly (string | number)[];

/** An invalid template, or an exceeded limit of its output. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

/** Nested loops, and nested statements of both kinds. */
const MAX_LOOPS = 4;
const MAX_DEPTH = 32;

const STEP = String.raw`(?:[A-Za-z_][A-Za-z0-9_-]*|\d{1,10})`;
const PATH = String.raw`(${STEP}(?:\.${STEP})*)`;
const VALUE = new RegExp(String.raw`\{\{\s*${PATH}\s*\}\}`, 'y');
const STATEMENT = new RegExp(String.raw`\{%\s*(?:(else|end)|(if|each)[ \t]+${PATH})\s*%\}\n?`, 'y');
const SPECIAL = /\{\{|\{%|\\\n/g;

interface Open {
  /** Absent for the template as a whole. */
  readonly node?: Extract<Node, { kind: 'if' | 'each' }>;
  /** The list that following nodes are added to. */
  into: Node[];
}

/** @throws TemplateError with the line number */
export function parseTemplate(text: string): Template {
  const nodes: Node[] = [];
  const open: Open[] = [{ into: nodes }];
  let loops = 0;
  const fail = (at: number, problem: string) =>
    new TemplateError(`${problem} on line ${text.slice(0, at).split('\n').length}`);

  const statement = (at: number, [, word, opener, path]: RegExpExecArray): void => {
    const inner = open.at(-1)!;
    if (opener !== undefined) {
      if (open.length > MAX_DEPTH) throw fail(at, `more than ${MAX_DEPTH} nested statements`);
      if (opener === 'each' && ++loops > MAX_LOOPS)
        throw fail(at, `you can only nest up to ${MAX_LOOPS} loops: there are more`);
      const node: Open['node'] =
        opener === 'if'
          ? { kind: 'if', path: pathOf(path!), body: [], otherwise: [] }
          : { kind: 'each', path: pathOf(path!), body: [] };
      inner.into.push(node);
      open.push({ node, into: node.body });
    } else if (word === 'end') {
      if (inner.node === undefined) throw fail(at, 'unexpected end');
      if (inner.node.kind === 'each') loops--;
      open.pop();
    } else {
      if (inner.node?.kind !== 'if' || inner.into === inner.node.otherwise) throw fail(at, 'unexpected else');
      inner.into = inner.node.otherwise;
    }
  };

  let at = 0;
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const special = SPECIAL.exec(text);
    const end = special?.index ?? text.length;
    if (end > at) open.at(-1)!.into.push({ kind: 'text', text: text.slice(at, end) });
    if (special === null) break;
    if (special[0] === '\\\n') {
      at = end + 2;
      continue;
    }
    const pattern = special[0] === '{{' ? VALUE : STATEMENT;
    pattern.lastIndex = end;
    const tag = pattern.exec(text);
    if (tag === null) throw fail(end, 'invalid tag');
    if (pattern === VALUE) open.at(-1)!.into.push({ kind: 'value', path: pathOf(tag[1]!) });
    else statement(end, tag);
    at = pattern.lastIndex;
  }
  if (open.length > 1) throw fail(text.length, 'statement without end');
  return { nodes };
}

const pathOf = (text: string): Path =>
  text.split('.').map((step) => (/^\d/.test(step) ? Number(step) : step));
