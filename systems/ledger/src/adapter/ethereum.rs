//! Nodes of Ethereum, by JSON-RPC. A lane is an account, a batch one signed transaction.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::transaction::{self, hex};
use super::{Adapter, Depth, Link, Outgoing, Standing, Statuses, Submitted, Trouble, Watched};

const STATUSES_MAX: usize = 100;

/// Words by which nodes say that they have a transaction already.
const KNOWN: &[&str] = &["already known", "already imported", "known transaction"];
/// Words by which nodes refuse a transaction that no node will ever take.
const INVALID: &[&str] = &[
    "chain id",
    "chainid",
    "intrinsic gas too low",
    "invalid sender",
    "invalid signature",
    "oversized data",
    "init code size",
    "failed to decode",
    "rlp",
];
const NONCE_TOO_LOW: &str = "nonce too low";

#[derive(Debug)]
pub(crate) struct Ethereum {
    link: Link,
    /// Blocks that a transaction must be deep in: 1 is the newest.
    confirmations: u64,
}

/// One call of a request, and its answer.
type Call = (&'static str, Value);
type Reply = Result<Value, String>;

impl Ethereum {
    pub(crate) fn new(link: Link, confirmations: u64) -> Ethereum {
        Ethereum { link, confirmations }
    }

    /// Makes calls in one request; the replies are in their order.
    async fn calls(&self, calls: Vec<Call>) -> Result<Vec<Reply>, Trouble> {
        let count = calls.len();
        let request: Vec<Value> = calls
            .into_iter()
            .enumerate()
            .map(|(id, (method, params))| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .collect();
        let body =
            serde_json::to_vec(&request).map_err(|error| Trouble::new("request", error.to_string()))?;
        let answer = self.link.post("", ("application/json", body), None).await?;
        if answer.status != 200 {
            return Err(answer.trouble());
        }
        let Value::Array(answers) = answer.json()? else {
            return Err(Trouble::garbled("it is no list of replies"));
        };
        let mut replies: Vec<Option<Reply>> = vec![None; count];
        for mut answer in answers {
            let id = answer["id"].as_u64().and_then(|id| usize::try_from(id).ok());
            let Some(reply) = id.and_then(|id| replies.get_mut(id)) else {
                return Err(Trouble::garbled("a reply is to no call of ours"));
            };
            *reply = Some(match &answer["error"] {
                Value::Null => Ok(answer["result"].take()),
                error => Err(said(error)),
            });
        }
        let replies: Option<Vec<Reply>> = replies.into_iter().collect();
        replies.ok_or_else(|| Trouble::garbled("a call has no reply"))
    }

    /// Makes calls that only a broken node refuses.
    async fn answers(&self, calls: Vec<Call>) -> Result<Vec<Value>, Trouble> {
        let replies = self.calls(calls).await?;
        let answers: Result<Vec<Value>, String> = replies.into_iter().collect();
        answers.map_err(|words| Trouble::new("rpc", format!("the node answered: {words}")))
    }

    /// Returns the block whose transactions are deep enough.
    fn confirmed(&self, latest: u64) -> Option<u64> {
        (latest + 1).checked_sub(self.confirmations)
    }

    /// Finds out about transactions that are in no block.
    async fn unmined(&self, batches: &[&Watched], latest: u64) -> Result<Vec<Standing>, Trouble> {
        let confirmed = hex_number(self.confirmed(latest).unwrap_or(0));
        let mut calls = vec![("eth_getBlockByNumber", json!(["latest", false]))];
        for batch in batches {
            calls.push(("eth_getTransactionCount", json!([batch.service, confirmed])));
            calls.push(("eth_getTransactionCount", json!([batch.service, "latest"])));
            calls.extend(batch.headers.iter().map(|id| ("eth_getTransactionByHash", json!([id]))));
            // Asked for again after the count: it may have been mined between the two requests.
            calls.extend(batch.headers.iter().map(|id| ("eth_getTransactionReceipt", json!([id]))));
        }
        let mut answers = self.answers(calls).await?.into_iter();
        let base_fee = number(&answers.next().unwrap_or_default()["baseFeePerGas"]);
        let mut found = Vec::with_capacity(batches.len());
        for batch in batches {
            let mut count = || answers.next().as_ref().and_then(number).unwrap_or(0);
            let (count, next) = (count(), count());
            let known: Vec<Value> = answers.by_ref().take(batch.headers.len()).collect();
            let mined = answers.by_ref().take(batch.headers.len()).any(|receipt| !receipt.is_null());
            let in_pool = known.iter().rfind(|transaction| !transaction.is_null());
            let is_taken = batch.nonce.is_some_and(|nonce| count > nonce);
            found.push(match in_pool {
                _ if mined => Standing::Pending,
                _ if is_taken => Standing::Invalid(vec![json!({
                    "id": batch.headers.first(),
                    "code": "nonce-taken",
                    "message": "another transaction of the account was mined with its nonce",
                })]),
                Some(transaction) => {
                    let gap = batch.nonce.filter(|nonce| *nonce > next);
                    let gap =
                        gap.map(|_| format!("it waits in the node's pool for the account's nonce {next}"));
                    let stuck = gap.or_else(|| stuck(transaction, base_fee));
                    stuck.map_or(Standing::Pending, Standing::Stuck)
                }
                None => Standing::Unknown,
            });
        }
        Ok(found)
    }

    /// Decides about a transaction that is in a block.
    fn mined(&self, receipt: Value, latest: u64) -> Standing {
        let block = number(&receipt["blockNumber"]);
        if block.is_none_or(|block| self.confirmed(latest).is_none_or(|confirmed| block > confirmed)) {
            return Standing::Pending;
        }
        match receipt["status"].as_str() {
            Some("0x0") => Standing::Invalid(vec![json!({
                "id": receipt["transactionHash"],
                "code": "reverted",
                "message": "it was mined, and its execution was reverted",
                "receipt": receipt,
            })]),
            _ => Standing::Committed(vec![receipt]),
        }
    }
}

#[async_trait]
impl Adapter for Ethereum {
    async fn submit(&self, batch: &Outgoing) -> Result<Submitted, Trouble> {
        if let Some(message) = misplaced(batch) {
            return Ok(Submitted::Invalid { code: "misplaced", message });
        }
        let send = ("eth_sendRawTransaction", json!([hex(&batch.bytes)]));
        let words = match self.calls(vec![send]).await?.pop() {
            Some(Err(words)) => words,
            _ => return Ok(Submitted::Accepted { link: None }),
        };
        let lower = words.to_lowercase();
        let says = |some: &[&str]| some.iter().any(|text| lower.contains(text));
        if says(KNOWN) {
            return Ok(Submitted::Accepted { link: None });
        }
        if says(INVALID) {
            return Ok(Submitted::Invalid {
                code: "refused",
                message: format!("the node refused it: {words}"),
            });
        }
        if says(&[NONCE_TOO_LOW]) {
            let batch = Watched {
                service: batch.service.clone(),
                headers: vec![batch.header.clone()],
                nonce: batch.nonce,
            };
            let found = self.statuses("", std::slice::from_ref(&batch)).await?.of.pop().flatten();
            match found {
                Some(Standing::Pending | Standing::Committed(_)) => {
                    return Ok(Submitted::Accepted { link: None });
                }
                Some(Standing::Invalid(_)) => {
                    let message = format!("another transaction of the account has its nonce: {words}");
                    return Ok(Submitted::Invalid { code: "nonce-taken", message });
                }
                _ => {}
            }
        }
        Err(Trouble::new("refused", format!("the node refused it: {words}")))
    }

    fn group(&self, _: &str) -> String {
        String::new()
    }

    fn statuses_max(&self) -> usize {
        STATUSES_MAX
    }

    async fn statuses(&self, _: &str, batches: &[Watched]) -> Result<Statuses, Trouble> {
        let ids = batches.iter().flat_map(|batch| &batch.headers);
        let receipts = ids.map(|id| ("eth_getTransactionReceipt", json!([id])));
        // Behind the receipts: the newest block is no older than any of theirs.
        let calls = receipts.chain([("eth_blockNumber", json!([]))]).collect();
        let mut answers = self.answers(calls).await?;
        let latest = answers.pop().as_ref().and_then(number);
        let latest = latest.ok_or_else(|| Trouble::garbled("there is no newest block"))?;
        let mut answers = answers.into_iter();
        let mut of = Vec::with_capacity(batches.len());
        for batch in batches {
            let receipts: Vec<Value> = answers.by_ref().take(batch.headers.len()).collect();
            let receipt = receipts.into_iter().find(|receipt| !receipt.is_null());
            of.push(receipt.map(|receipt| self.mined(receipt, latest)));
        }
        let open: Vec<&Watched> =
            batches.iter().zip(&of).filter(|(_, found)| found.is_none()).map(|(batch, _)| batch).collect();
        if !open.is_empty() {
            let mut found = self.unmined(&open, latest).await?.into_iter();
            of.iter_mut().filter(|of| of.is_none()).for_each(|of| *of = found.next());
        }
        Ok(Statuses { of, foreign: Vec::new() })
    }

    async fn depth(&self, headers: &[String], finality: u64) -> Result<Depth, Trouble> {
        let receipts = headers.iter().map(|id| ("eth_getTransactionReceipt", json!([id])));
        let mut answers = self.answers(receipts.chain([("eth_blockNumber", json!([]))]).collect()).await?;
        let latest = answers.pop().as_ref().and_then(number);
        let latest = latest.ok_or_else(|| Trouble::garbled("there is no newest block"))?;
        let block = answers.iter().find_map(|receipt| number(&receipt["blockNumber"]));
        Ok(match block {
            None => Depth::Gone,
            Some(block) if latest.saturating_sub(block) >= finality => Depth::Final,
            Some(_) => Depth::Shallow,
        })
    }
}

/// Returns the reason why a transaction does not belong where it was put: it would be sent out of its account's order.
fn misplaced(batch: &Outgoing) -> Option<String> {
    let Some(transaction) = transaction::read(&batch.bytes) else {
        return Some("the batch is no signed transaction".to_owned());
    };
    if transaction.hash != batch.header {
        return Some(format!("the transaction's hash is {}, not the batch's header", transaction.hash));
    }
    if transaction.sender != batch.service {
        return Some(format!(
            "{} signed it, and the batch's service is {}",
            transaction.sender, batch.service
        ));
    }
    let nonce = batch.nonce?;
    (transaction.nonce != nonce)
        .then(|| format!("the transaction's nonce is {}, the batch's {nonce}", transaction.nonce))
}

/// Returns why a transaction in the pool will not be mined as things are.
fn stuck(transaction: &Value, base_fee: Option<u64>) -> Option<String> {
    let offered = number(&transaction["maxFeePerGas"]).or_else(|| number(&transaction["gasPrice"]))?;
    let base_fee = base_fee.filter(|base_fee| offered < *base_fee)?;
    Some(format!("it offers {offered} wei for gas and waits in the node's pool: the network asks {base_fee}"))
}

fn number(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

fn hex_number(number: u64) -> String {
    format!("{number:#x}")
}

/// Returns a node's words about an error.
fn said(error: &Value) -> String {
    let message = error["message"].as_str().unwrap_or("an error without a message");
    message.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node that keeps what it cannot mine in its pool, as most do.
    #[test]
    fn a_transaction_that_offers_less_than_the_network_asks_is_stuck() {
        let dynamic = json!({ "maxFeePerGas": "0x10", "gasPrice": "0x20" });
        assert_eq!(stuck(&dynamic, Some(16)), None);
        let said = stuck(&dynamic, Some(17)).unwrap();
        assert_eq!(said, "it offers 16 wei for gas and waits in the node's pool: the network asks 17");
        assert!(stuck(&json!({ "gasPrice": "0x10" }), Some(17)).is_some());
        for (transaction, base_fee) in [(json!({}), Some(17)), (dynamic, None)] {
            assert_eq!(stuck(&transaction, base_fee), None, "nothing is known of it");
        }
    }
}
