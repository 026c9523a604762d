import type { Table } from '../../../lib/store/table/table.ts';

export class Died extends Error {}

/** A table as a process has it that dies before or after one of its writes, of which no further one is made. */
export function mortal(table: Table, dies: number, when: 'before' | 'after'): Table {
  let writes = 0;
  const dying =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const turn = writes++;
      if (turn < dies) return write.apply(table, args);
      if (turn === dies && when === 'after') await write.apply(table, args).catch(() => undefined);
      throw new Died();
    };
  return new Proxy(table, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name === 'put' || name === 'update' || name === 'transact' || name === 'delete')
        return dying(value as (...args: unknown[]) => Promise<unknown>);
      return value.bind(target) as unknown;
    },
  });
}
