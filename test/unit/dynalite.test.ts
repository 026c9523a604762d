import { describe, expect, test } from 'vitest';
import { CHECKED_OPERATIONS, keyEncoding, rulesOf, validate } from '../../local/aws/dynamodb/dynalite.ts';

// What local/aws/dynamodb/dynalite.ts takes from dynalite is not its public interface: a new version may change it.
describe('internals of dynalite that the embedded DynamoDB uses', () => {
  test.each([
    ['PROJECT#1', 'S', '605bc6', '50524f4a4543542331'],
    ['', 'S', '65a4c0', ''],
    ['é/~𝄞', 'S', 'bcb9ec', 'c3a92f7ef09d849e'],
    ['0', 'N', 'ce212d', '1000'],
    ['1', 'N', 'c3a031', '1821'],
    ['-1', 'N', '0267df', '07d9'],
    ['-273.15', 'N', 'b27b27', '07b72685'],
    ['12345678901234567890123456789012345678', 'N', 'b50a4c', '1a712345678901234567890123456789012345678'],
    ['9.99e125', 'N', 'a06bab', '1ff999'],
    ['AAECAw==', 'B', '1b63c5', '00010203'],
  ])('the key %s (%s) is encoded as in the data that exists', (value, type, hash, range) => {
    expect(keyEncoding.hashPrefix(value, type)).toBe(hash);
    expect(keyEncoding.toRangeStr(value, type)).toBe(range);
  });

  test.each(CHECKED_OPERATIONS)('there are rules for %s', (operation) => {
    const { types, custom } = rulesOf(operation);
    expect(Object.keys(types).length).toBeGreaterThan(0);
    expect(typeof custom).toBe('function');
  });

  const values = { ':v': { S: 'x' }, ':l': { N: '1' }, ':u': { N: '2' } };

  test('a condition is parsed into operators, paths and values, with names and values substituted', () => {
    const request = validate('PutItem', {
      TableName: 'table',
      Item: { pk: { S: 'a' } },
      ConditionExpression:
        'attribute_not_exists(#p) AND (a.b[0] = :v OR NOT size(c) BETWEEN :l AND :u) AND d IN (:v, :l)',
      ExpressionAttributeNames: { '#p': 'pk' },
      ExpressionAttributeValues: values,
      Unknown: 1,
    });
    expect(request).not.toHaveProperty('Unknown');
    const size = { type: 'function', name: 'size', args: [['c']] };
    const between = { type: 'between', args: [size, { N: '1' }, { N: '2' }] };
    const or = [
      { type: '=', args: [['a', 'b', 0], { S: 'x' }] },
      { type: 'not', args: [between] },
    ];
    const and = [
      { type: 'or', args: or },
      { type: 'in', args: [['d'], { S: 'x' }, { N: '1' }] },
    ];
    expect(request._condition).toMatchObject({
      pathHeads: { pk: true, a: true, c: true, d: true },
      nestedPaths: { a: true },
      expression: {
        type: 'and',
        args: [
          { type: 'function', name: 'attribute_not_exists', args: [['pk']] },
          { type: 'and', args: and },
        ],
      },
    });
  });

  test('an update is parsed into its actions, in the order of the expression', () => {
    const { _updates } = validate('UpdateItem', {
      TableName: 'table',
      Key: { pk: { S: 'a' } },
      UpdateExpression:
        'SET a.b[1] = if_not_exists(c, :n) + :n, l = list_append(l, :l) REMOVE d ADD e :n DELETE f :s',
      ExpressionAttributeValues: { ':n': { N: '1' }, ':l': { L: [] }, ':s': { SS: ['x'] } },
    });
    const ifNotExists = { type: 'function', name: 'if_not_exists', args: [['c'], { N: '1' }] };
    expect(_updates).toMatchObject({
      sections: [
        { type: 'set', path: ['a', 'b', 1], val: { type: 'add', args: [ifNotExists, { N: '1' }] } },
        {
          type: 'set',
          path: ['l'],
          val: { type: 'function', name: 'list_append', args: [['l'], { L: [] }] },
        },
        { type: 'remove', path: ['d'] },
        { type: 'add', path: ['e'], val: { N: '1' } },
        { type: 'delete', path: ['f'], val: { SS: ['x'] } },
      ],
      paths: [['a', 'b', 1], ['l'], ['d'], ['e'], ['f']],
      nestedPaths: { a: true },
    });
  });

  test('a query has its key conditions, its filter and its projection apart', () => {
    const request = validate('Query', {
      TableName: 'table',
      KeyConditionExpression: 'pk = :v AND begins_with(sk, :v)',
      FilterExpression: 'contains(f, :v)',
      ProjectionExpression: 'a, b.c[2]',
      ExpressionAttributeValues: { ':v': { S: 'x' } },
    });
    expect(request).toMatchObject({
      KeyConditions: {
        pk: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'x' }] },
        sk: { ComparisonOperator: 'BEGINS_WITH', AttributeValueList: [{ S: 'x' }] },
      },
      _filter: {
        pathHeads: { f: true },
        expression: { type: 'function', name: 'contains', args: [['f'], { S: 'x' }] },
      },
      _projection: { paths: [['a'], ['b', 'c', 2]], nestedPaths: { b: true } },
    });
  });

  test('a batch has the projection of each table with its keys', () => {
    const request = validate<{ RequestItems: object }>('BatchGetItem', {
      RequestItems: { table: { Keys: [{ pk: { S: 'a' } }], ProjectionExpression: 'a' } },
    });
    expect(request.RequestItems).toMatchObject({ table: { _projection: { paths: [['a']] } } });
  });

  test.each([
    [{ pk: {} }, 'ValidationException', /^Supplied AttributeValue is empty/],
    ['pk', 'SerializationException', /^Unexpected field type$/],
  ])('the key %j is rejected with the code and the text of the service', (Key, code, message) => {
    const check = () => validate('GetItem', { TableName: 'table', Key });
    expect(check).toThrow(expect.objectContaining({ code, status: 400 }));
    expect(check).toThrow(message);
  });

  test('an item of more than 400 KB passes: its size is checked elsewhere, in bytes', () => {
    const item = { pk: { S: 'a' }, text: { S: 'x'.repeat(500_000) } };
    expect(() => validate('PutItem', { TableName: 'table', Item: item })).not.toThrow();
  });
});
