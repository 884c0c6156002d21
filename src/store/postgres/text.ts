/**
 * Search values come from outside: an id in a path, an address typed into the sign-in form.
 * Text that PostgreSQL cannot keep would be an error of the server there, instead of something that is not found.
 */
import { type KyselyPlugin, OperationNodeTransformer, type PrimitiveValueListNode, type ValueNode } from 'kysely';
import { storable } from '../text.ts';

const kept = (value: unknown): unknown => (typeof value === 'string' ? storable(value) : value);

class StorableText extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: kept(node.value) };
  }
  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(kept) };
  }
}

const transformer = new StorableText();

export const storableText: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
  transformResult: async ({ result }) => result,
};
