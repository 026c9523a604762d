import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { isGiven } from '../../lib/git/wire/given-bytes.ts';
import { errorOf, type Failure, failureOf } from './failure.ts';

/** What goes through the channel: bytes as they are asked for, at last the end, or why there is none. */
type Piece = Uint8Array<ArrayBuffer> | { readonly end: true } | { readonly failure: Failure };

/** Chunks that are asked for before they are read. */
const AHEAD = 2;

/**
 * Bytes for another thread, each chunk of which moves there. A web stream that is transferred clones them instead: twice as much
 * is copied, and each copy is garbage that has to be collected.
 * @param options.own makes bytes of a chunk that may leave: unless it was given away, a copy, as it may be a part of something, or still be
 *   used here
 * @param options.over called when nobody reads any more, at the end too
 * @returns what the other thread makes a stream of, by {@link arriving}; it is to be transferred
 */
export function movable(
  chunks: AsyncIterable<Uint8Array>,
  { own = given, over }: { readonly own?: typeof given; readonly over?: () => void } = {},
): MessagePort {
  const { port1: here, port2: there } = new MessageChannel();
  const iterator = chunks[Symbol.asyncIterator]();
  let asked = 0;
  let sending = false;
  const send = async () => {
    if (sending) return;
    sending = true;
    try {
      for (; asked > 0; asked--) {
        const { done, value } = await iterator.next();
        if (done) return here.postMessage({ end: true } satisfies Piece);
        const bytes = own(value);
        here.postMessage(bytes satisfies Piece, [bytes.buffer]);
      }
      sending = false;
    } catch (error) {
      here.postMessage({ failure: failureOf(error) } satisfies Piece);
    }
  };
  here.on('message', () => {
    asked++;
    void send();
  });
  // What ends the reading of a generator is told to it, and to nobody else.
  here.on('close', () => void iterator.return?.().then(undefined, () => {}));
  if (over !== undefined) here.on('close', over);
  return there;
}

const given = (chunk: Uint8Array): Uint8Array<ArrayBuffer> =>
  isGiven(chunk) ? (chunk as Uint8Array<ArrayBuffer>) : new Uint8Array(chunk);

/** The bytes that another thread moves here. */
export function arriving(port: MessagePort): ReadableStream<Uint8Array> {
  let over = false;
  /** Resolved when what was asked for is here: until then nothing more is asked for. */
  let asked: PromiseWithResolvers<void> | undefined;
  const end = () => {
    over = true;
    port.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        port.on('message', (piece: Piece) => {
          if (over) return;
          if (piece instanceof Uint8Array) controller.enqueue(piece);
          else {
            end();
            if ('end' in piece) controller.close();
            else controller.error(errorOf(piece.failure));
          }
          asked?.resolve();
        });
        port.on('close', () => {
          if (!over) controller.error(new Error('the thread that the bytes came from has ended'));
          over = true;
        });
      },
      pull() {
        asked = Promise.withResolvers();
        port.postMessage(undefined);
        return asked.promise;
      },
      cancel: end,
    },
    { highWaterMark: AHEAD },
  );
}
