import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The browser of the system; none is downloaded. */
const PATHS = [process.env['CHROMIUM'] ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser'];

/** A browser with a profile of its own that calls nobody by itself, or undefined where there is none. */
export async function startBrowser(): Promise<Browser | undefined> {
  const executablePath = PATHS.find((path) => path !== '' && existsSync(path));
  if (executablePath === undefined) return undefined;
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
