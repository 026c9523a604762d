/** The parts of the SDK's module that holds the rules, as its `BinaryDecisionDiagram.from` receives them. */
interface Rules {
  /** Three numbers a node: its condition, and where true and false lead. `n` is the n-th node, from 1. */
  readonly nodes: Int32Array;
  readonly root: number;
  readonly conditions: readonly unknown[];
  readonly results: readonly unknown[];
}

/** Numbers from here on are results. The same number is in the SDK's code. */
const RESULT = 100_000_000;

/** What appears in conditions that are never true for our buckets and tables. */
const NEVER_TRUE = [
  '"Accelerate"',
  '"aws.parseArn"',
  // Directory buckets (S3 Express), access points to them, and buckets on Outposts.
  '"--x-s3"',
  '"--xa-s3"',
  '"--op-s3"',
  '"UseS3ExpressControlEndpoint"',
  '"UseObjectLambdaEndpoint"',
  '"IsSearchOperation"',
];

const REFUSAL = '        [-1, "the rules for this endpoint are not part of this bundle"],';

/**
 * Leaves out what follows when a condition is true that never is: an error follows there instead.
 * @param text the module `endpoint/bdd.js` of a client of the SDK: a decision diagram whose lists of conditions, results
 *   and nodes have an element a line
 * @throws if the module has another form, as it may after an update of the SDK
 */
export async function cutEndpointRules(text: string): Promise<string> {
  const { nodes, root, conditions, results } = await evaluate(text);
  const cut = conditions.map((condition) =>
    NEVER_TRUE.some((part) => JSON.stringify(condition).includes(part)),
  );
  const kept: [condition: number, whenTrue: number, whenFalse: number][] = [];
  const places = new Map<number, number>();
  const usedConditions = new Numbering();
  const usedResults = new Numbering();
  usedResults.of(0);

  const copy = (reference: number): number => {
    if (reference >= RESULT) return RESULT + usedResults.of(reference - RESULT);
    if (reference === 1) return 1;
    if (reference < 1) throw new Error('rules of endpoints: a reference of a kind that is not known');
    const known = places.get(reference);
    if (known !== undefined) return known;
    const [condition, whenTrue, whenFalse] = nodes.subarray(
      3 * (reference - 1),
      3 * reference,
    ) as unknown as number[];
    const high = copy(cut[condition!] ? RESULT + results.length : whenTrue!);
    const low = copy(whenFalse!);
    // The first node is none of the rules: it is kept below.
    const place = kept.push([usedConditions.of(condition!), high, low]) + 1;
    places.set(reference, place);
    return place;
  };
  const newRoot = copy(root);

  return replaceList(
    replaceList(
      replaceList(text, 'nodes = new Int32Array([', [
        '    -1, 1, -1,',
        ...kept.map((node) => `    ${node.join(', ')},`),
      ]),
      'conditions: [',
      usedConditions.select(lines(text, 'conditions: [', conditions.length)),
    ),
    'results: [',
    usedResults.select([...lines(text, 'results: [', results.length), REFUSAL]),
  ).replace(/^const root = \d+;$/m, `const root = ${newRoot};`);
}

/** New numbers, in the order of use. */
class Numbering {
  readonly #numbers = new Map<number, number>();

  of(old: number): number {
    const number = this.#numbers.get(old) ?? this.#numbers.size;
    this.#numbers.set(old, number);
    return number;
  }

  select<T>(from: readonly T[]): T[] {
    return [...this.#numbers.keys()].map((old) => from[old]!);
  }
}

/** The module's rules, with its import replaced. */
async function evaluate(text: string): Promise<Rules> {
  const source = text.replace(
    /^import .*;$/m,
    'const BinaryDecisionDiagram = { from: (nodes, root, conditions, results) => ({ nodes, root, conditions, results }) };',
  );
  const { bdd } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as { bdd: Rules };
  return bdd;
}

/** Where the elements of a list begin and end in the text. */
function extent(text: string, opening: string): [start: number, end: number] {
  const start = text.indexOf(`${opening}\n`) + opening.length + 1;
  const end = start + text.slice(start).search(/^ *\]/m);
  if (start <= opening.length || end < start) throw new Error(`rules of endpoints: no list ${opening}`);
  return [start, end];
}

function lines(text: string, opening: string, count: number): string[] {
  const found = text
    .slice(...extent(text, opening))
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/,?$/, ','));
  if (found.length !== count) throw new Error(`rules of endpoints: ${opening} has not an element a line`);
  return found;
}

function replaceList(text: string, opening: string, elements: readonly string[]): string {
  const [start, end] = extent(text, opening);
  return `${text.slice(0, start)}${elements.join('\n')}\n${text.slice(end)}`;
}
