/**
 * Reports of tests in the XML that JUnit began and others write. A job sends one file of them, each compressed behind the one
 * before: what is read is one stream with a root element for each.
 */

import { StringDecoder } from 'node:string_decoder';
import { Parser } from 'htmlparser2';
import { asBuffer } from '../../bytes/as-buffer.ts';

export type TestStatus = 'success' | 'failed' | 'skipped' | 'error';

export interface TestCase {
  readonly status: TestStatus;
  readonly name: string | null;
  readonly classname: string | null;
  readonly file: string | null;
  /** Seconds. */
  readonly time: number;
  /** What the test said of its failure; where that is no text, the attributes that say it. */
  readonly output: string | Readonly<Record<string, string>> | null;
  /** Path of a file in the archive of the job. */
  readonly attachment: string | null;
}

/** A report that is none; the message is shown. */
export class BadReport extends Error {
  override readonly name = 'BadReport';
}

const MAX_DEPTH = 50;
/** Of one element. */
const MAX_ATTRIBUTES = 200;
/** Characters of what a test says, of which the rest is left out. */
const MAX_TEXT = 1_000_000;
const SUITES = ['testsuites', 'testsuite'];
const ATTACHMENT = /\[\[ATTACHMENT\|([^\]\n]{1,1000})\]\]/;
/** What ends a test otherwise than well, the first counts. */
const ENDINGS: readonly (readonly [element: string, status: TestStatus])[] = [
  ['failure', 'failed'],
  ['error', 'error'],
  ['skipped', 'skipped'],
];

interface Child {
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string[];
  length: number;
}

/**
 * Yields the cases of a report, without holding it: entities other than those of XML itself are not replaced, and nothing
 * outside of it is read.
 * @param pieces uncompressed
 * @throws BadReport; what reading the pieces throws
 */
export async function* junitCases(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<TestCase> {
  const found: TestCase[] = [];
  const path: string[] = [];
  let elements = 0;
  /** The case within which the parser is, and how deep it is. */
  let open: { attributes: Child['attributes']; depth: number; children: Map<string, Child> } | undefined;
  let child: Child | undefined;
  let openedAt = -1;
  let attributesSeen = 0;
  const parser = new Parser(
    {
      onattribute() {
        if (++attributesSeen > MAX_ATTRIBUTES)
          throw new BadReport('JUnit XML parsing failed: an element has too many attributes');
      },
      onopentag(name, attributes) {
        attributesSeen = 0;
        elements++;
        openedAt = parser.endIndex;
        const depth = path.push(name);
        if (depth > MAX_DEPTH) throw new BadReport('JUnit XML parsing failed: elements are too deep');
        if (open === undefined) {
          if (name !== 'testcase' || depth === 1) return;
          if (path.slice(0, -1).every((each) => SUITES.includes(each)))
            open = { attributes, depth, children: new Map() };
        } else if (depth === open.depth + 1) {
          child = open.children.get(name) ?? { attributes, text: [], length: 0 };
          open.children.set(name, child);
        }
      },
      ontext(text) {
        if (child === undefined || child.length >= MAX_TEXT) return;
        child.length += text.length;
        child.text.push(text.slice(0, MAX_TEXT));
      },
      onclosetag(name, implied) {
        // Of elements that close themselves, too, the parser says that nothing does.
        if (implied && parser.endIndex !== openedAt)
          throw new BadReport(`JUnit XML parsing failed: ${name.slice(0, 100)} is not closed`);
        const depth = path.length;
        path.pop();
        if (open === undefined) return;
        if (depth === open.depth + 1) child = undefined;
        if (depth !== open.depth) return;
        found.push(caseOf(open.attributes, open.children));
        open = undefined;
      },
    },
    { xmlMode: true },
  );
  const decoder = new StringDecoder('utf8');
  for await (const piece of pieces) {
    parser.write(decoder.write(asBuffer(piece)));
    yield* found.splice(0);
  }
  parser.end(decoder.end());
  yield* found.splice(0);
  if (elements === 0) throw new BadReport('JUnit XML parsing failed: there is no element');
}

function caseOf(attributes: Child['attributes'], children: ReadonlyMap<string, Child>): TestCase {
  const [element, status] = ENDINGS.find(([name]) => children.has(name)) ?? [undefined, 'success' as const];
  const said = element === undefined ? undefined : children.get(element)!;
  const text = said?.text.join('') ?? '';
  const time = Number.parseFloat(attributes['time']?.replaceAll(',', '') ?? '');
  const printed = children.get('system-out')?.text.join('') ?? '';
  const fails = status === 'failed' || status === 'error';
  return {
    status,
    name: attributes['name'] ?? null,
    classname: attributes['classname'] ?? null,
    file: attributes['file'] ?? null,
    time: Number.isFinite(time) ? Math.max(0, time) : 0,
    output: text.trim() !== '' ? text : attributesOf(said),
    attachment: (fails ? ATTACHMENT.exec(printed)?.[1] : undefined) ?? null,
  };
}

const attributesOf = (said: Child | undefined): TestCase['output'] =>
  said === undefined || Object.keys(said.attributes).length === 0 ? null : said.attributes;
