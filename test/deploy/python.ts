import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './process.ts';

const cache = join(import.meta.dirname, '../../.cache');

/**
 * Installs what a file of requirements names on first use, and nothing else, into a virtual environment of its own.
 * @param name of its folder below `.cache`
 * @returns the Python of it
 */
export async function pythonWith(requirements: string, name: string): Promise<string> {
  const folder = join(cache, name);
  const python = join(folder, 'bin/python');
  const installed = join(folder, 'installed.txt');
  const wanted = readFileSync(requirements, 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return python;
  mkdirSync(cache, { recursive: true });
  await run('python3', ['-m', 'venv', '--clear', folder]);
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
  writeFileSync(installed, wanted);
  return python;
}
