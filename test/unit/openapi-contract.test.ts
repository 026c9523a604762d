import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allEndpoints } from '../../lib/api/all.ts';
import { document } from '../../lib/http/openapi.ts';
import { type ContractEndpoint, compareWithContract } from '../contract.ts';

/** The specification's endpoints with their parameters: the file that `CONTRACT_FILE` names. */
const file = process.env['CONTRACT_FILE'] ?? '';

describe.skipIf(file === '')('the specification’s endpoints', () => {
  const contract = file === '' ? [] : (JSON.parse(readFileSync(file, 'utf8')) as ContractEndpoint[]);
  const declared = document(allEndpoints, { title: 'Lemnos', version: '0', serverUrl: 'http://localhost' });
  const { missing, missingParameters, mistyped } = compareWithContract(declared, contract);
  const served = contract.length - missing.length;

  test('have every parameter, as it is specified, where they are served', () => {
    // A contract that matches nothing would be the wrong file, or a comparison that is broken.
    expect(served).toBeGreaterThan(0);
    expect({ missingParameters, mistyped }).toEqual({ missingParameters: [], mistyped: [] });
  });

  test('that are missing are reported', () => {
    const areas = [...Map.groupBy(missing, ({ area }) => area)].map(
      ([area, endpoints]) =>
        `  ${area} (${endpoints.length})\n${endpoints.map(({ method, path }) => `    ${method} ${path}`).join('\n')}`,
    );
    const told = `${served} of ${contract.length} specified endpoints are served; missing, by area:`;
    process.stdout.write(`${[told, ...areas].join('\n')}\n`);
  });
});

test.runIf(file === '')('without CONTRACT_FILE nothing is compared', () => {
  process.stderr.write('CONTRACT_FILE is not set: the interface is not compared with its specification\n');
});
