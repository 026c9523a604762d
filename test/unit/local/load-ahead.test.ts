import { expect, it } from 'vitest';
import { loadAhead } from '../../../local/load-ahead.ts';

it('functions are loaded one after another, and the event loop turns between them', async () => {
  const seen: string[] = [];
  const load = async (entry: string) => {
    seen.push(entry);
    setImmediate(() => seen.push('turn'));
  };
  await loadAhead(['a.ts', 'b.ts'], { load, onError: () => {}, signal: new AbortController().signal });
  expect(seen.slice(0, 3)).toEqual(['a.ts', 'turn', 'b.ts']);
});

it('a function that cannot be loaded is told, and does not keep the next from being loaded', async () => {
  const seen: string[] = [];
  const load = async (entry: string) => {
    if (entry === 'a.ts') throw new Error('broken');
    seen.push(entry);
  };
  const onError = (entry: string, error: unknown) => void seen.push(`${entry}: ${error}`);
  await loadAhead(['a.ts', 'b.ts'], { load, onError, signal: new AbortController().signal });
  expect(seen).toEqual(['a.ts: Error: broken', 'b.ts']);
});

it('nothing more is loaded, and nothing told, once the host stops', async () => {
  const stopping = new AbortController();
  const seen: string[] = [];
  const load = async (entry: string) => {
    seen.push(entry);
    stopping.abort();
    throw new Error('its thread has ended');
  };
  const onError = () => void seen.push('told');
  await loadAhead(['a.ts', 'b.ts'], { load, onError, signal: stopping.signal });
  expect(seen).toEqual(['a.ts']);
});
