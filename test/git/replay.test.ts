import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { keptBytes, Replay } from '../../lib/git/pack/replay.ts';
import { collectGarbage } from '../harness/collect-garbage.ts';
import { collected } from './read-zip.ts';

const pieces = Array.from({ length: 5 }, (_, i) => Buffer.alloc(10, i));

/** Pieces, and how many of them were read. */
function source() {
  const counted = { pieces: 0 };
  const read = async function* () {
    for (const piece of pieces) {
      counted.pieces++;
      yield piece;
    }
  };
  return { counted, read };
}

afterEach(() => expect(keptBytes()).toBe(0));

describe('a replay', () => {
  it('reads its pieces once', async () => {
    const { counted, read } = source();
    const replay = new Replay(read);
    expect(await collected(replay.first())).toEqual(Buffer.concat(pieces));
    expect(keptBytes()).toBe(50);
    expect(await collected(replay.second())).toEqual(Buffer.concat(pieces));
    expect(counted.pieces).toBe(5);
    replay.drop();
  });

  it('reads those that do not fit again, and keeps none of them', async () => {
    const { counted, read } = source();
    const other = new Replay(source().read);
    await collected(other.first());
    const replay = new Replay(read, 75);
    await collected(replay.first());
    expect(keptBytes()).toBe(50);
    expect(await collected(replay.second())).toEqual(Buffer.concat(pieces));
    expect(counted.pieces).toBe(10);
    replay.drop();
    other.drop();
    other.drop();
  });

  it('that is forgotten is not counted for ever', async () => {
    await collected(new Replay(source().read).first());
    for (let i = 0; keptBytes() > 0 && i < 100; i++) {
      collectGarbage();
      await sleep(10);
    }
  });
});
