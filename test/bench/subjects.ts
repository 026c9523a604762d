import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from './generated.ts';

/** A repository for the benchmark. */
export interface Subject {
  readonly name: string;
  /** A bare repository with one pack. */
  readonly directory: string;
  /** How often a push or clone is measured; the shortest time counts. */
  readonly runs: number;
}

/** The repositories of `BENCH_REPOS`, or a history generated in `scratch` if it is not set. */
export function subjects(scratch: string): Subject[] {
  const folder = process.env['BENCH_REPOS'];
  if (folder === undefined || folder === '') {
    process.stdout.write(
      'BENCH_REPOS is not set (a folder with the bare repositories express.git and git.git): ' +
        'a generated history stands in\n\n',
    );
    return [{ name: 'generated', directory: generate(join(scratch, 'generated.git')), runs: 3 }];
  }
  const known = [
    { name: 'express', runs: 3 },
    { name: 'git', runs: 1 },
  ];
  const found = known
    .map(({ name, runs }) => ({ name, runs, directory: join(folder, `${name}.git`) }))
    .filter(({ directory }) => existsSync(join(directory, 'HEAD')));
  if (found.length === 0) throw new Error(`BENCH_REPOS: neither express.git nor git.git in ${folder}`);
  return found;
}
