import {
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type JsonObject,
  NodeApiError,
  NodeConnectionTypes,
  NodeOperationError,
} from 'n8n-workflow';
import { operationOf } from './operations';
import { PROPERTIES } from './properties';

export class Mailvet implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Mailvet',
    name: 'mailvet',
    icon: { light: 'file:../../icons/mailvet.svg', dark: 'file:../../icons/mailvet.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Verify email addresses and clean lists with your Mailvet service',
    defaults: { name: 'Mailvet' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'mailvetApi', required: true }],
    properties: PROPERTIES,
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const { run, once } = operationOf(this);
    const done: INodeExecutionData[] = [];
    for (const item of this.getInputData().keys()) {
      if (once && item > 0) break;
      try {
        done.push(...(await run(this, item)));
      } catch (error) {
        if (!this.continueOnFail()) {
          // It is kept as it is by this constructor.
          if (error instanceof NodeApiError) throw new NodeApiError(this.getNode(), error as unknown as JsonObject);
          throw new NodeOperationError(this.getNode(), error as Error, { itemIndex: item });
        }
        const { message, context = {} } = error as { message: string; context?: NodeApiError['context'] };
        const { status, code, field, retry_after, request_id } = context;
        done.push({ json: { error: message, status, code, field, retry_after, request_id }, pairedItem: { item } });
      }
    }
    return [done];
  }
}
