import type { FsckId } from './fsck-ids.ts';
import { BLOB, COMMIT, TAG, TREE } from './pack/entry.ts';
import { parseRefName } from './refname.ts';

export type Report = (id: FsckId, message: string) => undefined;
/** Called with each id an object refers to, in hex, and the type code expected there. */
export type Link = (hex: string, kind: number) => void;

const HEX40 = /^[0-9a-f]{40}$/;
const TYPES: Readonly<Record<string, number>> = { commit: COMMIT, tree: TREE, blob: BLOB, tag: TAG };

/** Checks a commit line by line; stops where git stops. */
export function checkCommit(data: Buffer, report: Report, link: Link): undefined {
  const lines = new Lines(data);
  if (!lines.header(report)) return;
  if (!lines.starts('tree ')) return report('missingTree', "invalid format - expected 'tree' line");
  const tree = lines.rest(5);
  if (!HEX40.test(tree)) return report('badTreeSha1', "invalid 'tree' line format - bad sha1");
  link(tree, TREE);
  lines.next();
  while (lines.starts('parent ')) {
    const parent = lines.rest(7);
    if (!HEX40.test(parent)) return report('badParentSha1', "invalid 'parent' line format - bad sha1");
    link(parent, COMMIT);
    lines.next();
  }
  let authors = 0;
  while (lines.starts('author ')) {
    authors++;
    checkIdentity(lines.rest(7), report);
    lines.next();
  }
  if (authors < 1) return report('missingAuthor', "invalid format - expected 'author' line");
  if (authors > 1) report('multipleAuthors', "invalid format - multiple 'author' lines");
  if (!lines.starts('committer '))
    return report('missingCommitter', "invalid format - expected 'committer' line");
  checkIdentity(lines.rest(10), report);
  if (data.includes(0)) report('nulInCommit', 'NUL byte in the commit object body');
}

export function checkTag(data: Buffer, report: Report, link: Link): undefined {
  const lines = new Lines(data);
  if (!lines.header(report)) return;
  if (!lines.starts('object ')) return report('missingObject', "invalid format - expected 'object' line");
  const object = lines.rest(7);
  if (!HEX40.test(object)) return report('badObjectSha1', "invalid 'object' line format - bad sha1");
  lines.next();
  if (!lines.starts('type ')) return report('missingTypeEntry', "invalid format - expected 'type' line");
  const kind = TYPES[lines.rest(5)];
  if (kind === undefined) return report('badType', "invalid 'type' value");
  link(object, kind);
  lines.next();
  if (!lines.starts('tag ')) return report('missingTagEntry', "invalid format - expected 'tag' line");
  const name = lines.rest(4);
  if (!parseRefName(`refs/tags/${name}`)) report('badTagName', `invalid 'tag' name: ${name}`);
  lines.next();
  if (!lines.starts('tagger '))
    return report('missingTaggerEntry', "invalid format - expected 'tagger' line");
  checkIdentity(lines.rest(7), report);
}

/** @param line what follows `author `, in Latin-1 */
function checkIdentity(line: string, report: Report): undefined {
  if (line.startsWith('<')) {
    return report('missingNameBeforeEmail', 'invalid author/committer line - missing space before email');
  }
  const open = line.search(/[<>]/);
  if (open < 0) return report('missingEmail', 'invalid author/committer line - missing email');
  if (line[open] === '>') return report('badName', 'invalid author/committer line - bad name');
  if (line[open - 1] !== ' ') {
    return report('missingSpaceBeforeEmail', 'invalid author/committer line - missing space before email');
  }
  const mail = line.slice(open + 1);
  const close = mail.search(/[<>]/);
  if (close < 0 || mail[close] !== '>')
    return report('badEmail', 'invalid author/committer line - bad email');
  const when = mail.slice(close + 1);
  if (!when.startsWith(' ')) {
    return report('missingSpaceBeforeDate', 'invalid author/committer line - missing space before date');
  }
  if (/^ 0[^ ]/.test(when))
    return report('zeroPaddedDate', 'invalid author/committer line - zero-padded date');
  const parts = /^ (\d+) (.*)$/s.exec(when);
  if (!parts) return report('badDate', 'invalid author/committer line - bad date');
  // git keeps times in 64 bits.
  if (parts[1]!.length > 19 || BigInt(parts[1]!) > 0x7fffffffffffffffn) {
    return report('badDateOverflow', 'invalid author/committer line - date causes integer overflow');
  }
  if (!/^[+-]\d{4}$/.test(parts[2]!)) report('badTimezone', 'invalid author/committer line - bad time zone');
}

/** Reads the header line by line. */
class Lines {
  readonly #data: Buffer;
  #at = 0;

  constructor(data: Buffer) {
    this.#data = data;
  }

  /** Whether the header ends properly and holds no NUL. */
  header(report: Report): boolean {
    const data = this.#data;
    const blank = data.indexOf('\n\n', 0, 'latin1');
    const nul = data.indexOf(0);
    if (nul >= 0 && (blank < 0 || nul < blank)) {
      report('nulInHeader', `unterminated header: NUL at offset ${nul}`);
      return false;
    }
    // An object without a message may end after the last header line.
    if (blank < 0 && data[data.length - 1] !== 0x0a) {
      report('unterminatedHeader', 'unterminated header');
      return false;
    }
    return true;
  }

  starts(label: string): boolean {
    for (let i = 0; i < label.length; i++) if (this.#data[this.#at + i] !== label.charCodeAt(i)) return false;
    return true;
  }

  rest(skip: number): string {
    const end = this.#data.indexOf(0x0a, this.#at);
    return this.#data.toString('latin1', this.#at + skip, end < 0 ? this.#data.length : end);
  }

  next(): void {
    const end = this.#data.indexOf(0x0a, this.#at);
    this.#at = end < 0 ? this.#data.length : end + 1;
  }
}
