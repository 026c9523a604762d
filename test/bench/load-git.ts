/**
 * What git sends for a pull and a push, without git: its processes would take as much of the processors as the host does.
 */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { DELIM, FLUSH, pkt } from '../../lib/git/wire/pkt-line.ts';
import type { Answer, LoadClient } from './load-client.ts';
import type { BusyProject, Person } from './load-data.ts';

const ZERO = '0'.repeat(40);
const AGENT = 'agent=git/2.47.0';

/** One client of one repository. Each method answers with the first status that is not 200, or 200. */
export class GitClient {
  readonly #client: LoadClient;
  readonly #project: BusyProject;
  readonly #person: Person;

  constructor(client: LoadClient, project: BusyProject, person: Person) {
    this.#client = client;
    this.#project = project;
    this.#person = person;
  }

  /** `git ls-remote`, or a fetch that finds nothing new. @returns also the tip of the default branch */
  async look(): Promise<{ status: number; tip: string }> {
    const greeted = await this.#get('info/refs?service=git-upload-pack');
    if (greeted.status !== 200) return { status: greeted.status, tip: '' };
    const refs = await this.#post('git-upload-pack', [
      pkt('command=ls-refs\n'),
      pkt(AGENT),
      pkt('object-format=sha1'),
      DELIM,
      ...[
        'peel\n',
        'symrefs\n',
        'ref-prefix HEAD\n',
        'ref-prefix refs/heads/\n',
        'ref-prefix refs/tags/\n',
      ].map(pkt),
      FLUSH,
    ]);
    const tip = /([0-9a-f]{40}) HEAD/.exec(refs.body.toString('latin1'))?.[1] ?? '';
    if (refs.status === 200 && tip === '') throw new Error('ls-refs without HEAD');
    return { status: refs.status, tip };
  }

  /** `git fetch` of somebody who has what the default branch was some commits ago. */
  async fetch(behind: number): Promise<number> {
    const { status, tip } = await this.look();
    if (status !== 200) return status;
    const haves = this.#project.commits.slice(behind, behind + 16);
    return this.#pack([`want ${tip}\n`, ...haves.map((have) => `have ${have}\n`), 'done\n']);
  }

  /** `git clone`. @param depth of a shallow one */
  async clone(depth?: number): Promise<number> {
    const { status, tip } = await this.look();
    if (status !== 200) return status;
    return this.#pack([`want ${tip}\n`, ...(depth === undefined ? [] : [`deepen ${depth}\n`]), 'done\n']);
  }

  /** `git push` of a new branch with a commit on top of the default branch. */
  async push(branch: string): Promise<number> {
    const greeted = await this.#get('info/refs?service=git-receive-pack');
    if (greeted.status !== 200) return greeted.status;
    const { pack, tip } = packOfCommit(this.#project.commits[0]!, branch);
    const pushed = await this.#post('git-receive-pack', [
      pkt(`${ZERO} ${tip} refs/heads/${branch}\0report-status object-format=sha1 ${AGENT}`),
      FLUSH,
      pack,
    ]);
    if (pushed.status === 200 && !pushed.body.includes(`ok refs/heads/${branch}`))
      throw new Error(`push: ${pushed.body.toString('latin1')}`);
    return pushed.status;
  }

  async #pack(lines: readonly string[]): Promise<number> {
    const answer = await this.#post('git-upload-pack', [
      pkt('command=fetch'),
      pkt(AGENT),
      pkt('object-format=sha1'),
      DELIM,
      ...['thin-pack', 'no-progress', 'ofs-delta'].map(pkt),
      ...lines.map(pkt),
      FLUSH,
    ]);
    const whole = answer.body.includes('packfile\n') && answer.body.subarray(-4).toString() === '0000';
    if (answer.status === 200 && !whole) throw new Error('a pack that does not end');
    return answer.status;
  }

  #get(path: string): Promise<Answer> {
    return this.#client.send({ method: 'GET', path: this.#path(path), headers: this.#headers() });
  }

  #post(service: string, parts: readonly Uint8Array[]): Promise<Answer> {
    return this.#client.send({
      method: 'POST',
      path: this.#path(service),
      headers: { ...this.#headers(), 'Content-Type': `application/x-${service}-request` },
      body: Buffer.concat(parts),
    });
  }

  #path = (path: string) => `/${this.#project.path}.git/${path}`;

  #headers() {
    const { username, token } = this.#person;
    return {
      Authorization: `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`,
      'Git-Protocol': 'version=2',
      'User-Agent': 'git/2.47.0',
    };
  }
}

/** A pack of a commit with one file, which differs by its text. */
function packOfCommit(parent: string, text: string): { pack: Buffer; tip: string } {
  const who = `Ada <ada@example.com> ${Math.floor(Date.now() / 1000)} +0000`;
  const blob = object(3, 'blob', Buffer.from(`${text}\n`));
  const entry = Buffer.concat([Buffer.from('100644 pushed.txt\0'), Buffer.from(blob.id, 'hex')]);
  const tree = object(2, 'tree', entry);
  const head = `tree ${tree.id}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\n${text}\n`;
  const commit = object(1, 'commit', Buffer.from(head));
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\x03', 'latin1');
  const pack = Buffer.concat([header, commit.entry, tree.entry, blob.entry]);
  return { pack: Buffer.concat([pack, createHash('sha1').update(pack).digest()]), tip: commit.id };
}

function object(type: number, name: string, content: Buffer): { id: string; entry: Buffer } {
  const id = createHash('sha1').update(`${name} ${content.length}\0`).update(content).digest('hex');
  const head: number[] = [];
  let byte = (type << 4) | (content.length & 15);
  for (let rest = content.length >> 4; rest > 0; rest >>= 7) {
    head.push(byte | 0x80);
    byte = rest & 0x7f;
  }
  head.push(byte);
  return { id, entry: Buffer.concat([Buffer.from(head), deflateSync(content)]) };
}
