import { type Key, padded } from './key.ts';

export const projectKey = (id: number): Key => ({ pk: `PROJECT#${padded(id)}`, sk: 'PROJECT' });
