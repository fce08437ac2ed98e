//! The tasks against a real node of Ethereum.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use wire::{InvestigationStatus, Json, Status, SubmissionId};

use crate::node::{Account, CHAIN, GWEI, Node, Unsigned, number};
use crate::world::{World, output};

const SINK: &str = "0x00000000000000000000000000000000005111c5";

/// Returns numbers from 0 below a bound, in an order that looks like chance and is the same each time.
fn shuffled(count: usize, seed: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    numbers.sort_by_key(|number| (number * 7_919 + seed * 104_729 + 12_345) * 2_654_435_761 % 1_000_003);
    numbers
}

/// 5 callers at once, each for 4 accounts; each sends 5 calls, and each call has 10 transactions of each of its accounts,
/// interleaved, their nonces shuffled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_transactions_are_committed_in_nonce_order_through_restarts_and_a_way_that_breaks() {
    const CALLERS: usize = 5;
    const ACCOUNTS: usize = 4;
    const CALLS: usize = 5;
    const OF_A_CALL: usize = 10;
    let mut node = Node::start(&["--block-time", "1", "--mixed-mining"]).await;
    let mut accounts = Vec::new();
    for seed in 1..=CALLERS * ACCOUNTS {
        accounts.push(node.account(u8::try_from(seed).unwrap()).await);
    }
    let accounts = Arc::new(accounts);
    node.breaks(9);
    let world = Arc::new(World::start(&node.settings("confirmations = 1\nfinality = 0")).await);
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let (world, accounts) = (world.clone(), accounts.clone());
        callers.spawn(async move {
            let mut ids = Vec::new();
            for call in 0..CALLS {
                let order = shuffled(ACCOUNTS * OF_A_CALL, caller * CALLS + call);
                let batch = |place: &usize| {
                    let account: &Account = &accounts[caller * ACCOUNTS + place % ACCOUNTS];
                    account.batch(&Unsigned::new((call * OF_A_CALL + place / ACCOUNTS) as u64, SINK))
                };
                let batches: Vec<Value> = order.iter().map(batch).collect();
                ids.extend(world.submit_many(&batches).await);
            }
            ids
        });
    }
    let ids: Vec<SubmissionId> = callers.join_all().await.concat();
    assert_eq!(ids.len(), 1_000);
    for quarter in 1..=2 {
        world.until(ids[quarter * 300], |view| view.status != Status::Open).await;
        node.stop().await;
        let broken = node.requests();
        node.asked(broken + 5).await;
        node.go().await;
    }
    for id in &ids {
        world.state(*id, "COMMITTED").await;
    }
    for account in &*accounts {
        let count = node.number("eth_getTransactionCount", json!([account.address, "latest"])).await;
        assert_eq!(count, (CALLS * OF_A_CALL) as u64, "{}", account.address);
    }
    assert_eq!(node.number("eth_getBalance", json!([SINK, "latest"])).await, 1_000, "each was executed once");
    let mut mined: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for block in 0..=node.number("eth_blockNumber", json!([])).await {
        let block = node.ask("eth_getBlockByNumber", json!([format!("{block:#x}"), true])).await;
        for transaction in block["transactions"].as_array().unwrap() {
            let from = transaction["from"].as_str().unwrap().to_lowercase();
            mined.entry(from).or_default().push(number(&transaction["nonce"]));
        }
    }
    assert_eq!(mined.values().map(Vec::len).sum::<usize>(), 1_000);
    let expected: Vec<u64> = (0..(CALLS * OF_A_CALL) as u64).collect();
    assert!(mined.values().all(|nonces| *nonces == expected), "{mined:?}");
}

#[tokio::test]
async fn a_transaction_that_no_node_takes_and_one_that_reverts_let_the_next_one_go() {
    let node = Node::start(&[]).await;
    let account = node.account(1).await;
    let reverts = "0x00000000000000000000000000000000000e7e75";
    node.ask("anvil_setCode", json!([reverts, "0x60006000fd"])).await;
    let world = World::start(&node.settings("confirmations = 1")).await;
    let other_chain = account.batch(&Unsigned { chain: CHAIN + 1, ..Unsigned::new(0, SINK) });
    let batches = [account.batch(&Unsigned::new(0, reverts)), account.batch(&Unsigned::new(1, SINK))];
    let refused = world.submit(&other_chain).await;
    let ids = world.submit_many(&batches).await;
    let view = world.state(refused, "INVALID").await;
    assert_eq!(output(&view, "SUBMITTING")["invalid_transactions"][0]["code"], "refused");
    let view = world.state(ids[0], "INVALID").await;
    assert_eq!(output(&view, "PENDING")["invalid_transactions"][0]["code"], "reverted");
    let view = world.state(ids[1], "COMMITTED").await;
    assert_eq!(output(&view, "PENDING")["receipts"][0]["status"], "0x1");
}

#[tokio::test]
async fn a_transaction_out_of_its_place_is_never_sent() {
    let node = Node::start(&[]).await;
    let (account, other) = (node.account(1).await, node.account(2).await);
    let world = World::start(&node.settings("confirmations = 1")).await;
    let good = account.batch(&Unsigned::new(0, SINK));
    let with = |key: &str, value: Value| {
        let mut batch = good.clone();
        batch[key] = value;
        batch
    };
    let wrong = [
        (with("service_id", json!(other.address)), "signed it"),
        (with("nonce", json!(7)), "nonce is 0"),
        (
            with("serialized_batch", other.batch(&Unsigned::new(0, SINK))["serialized_batch"].clone()),
            "hash is",
        ),
        (with("serialized_batch", json!("AAAA")), "no signed transaction"),
    ];
    for (batch, expected) in wrong {
        let view = world.state(world.submit(&batch).await, "INVALID").await;
        let message = output(&view, "SUBMITTING")["invalid_transactions"][0]["message"].to_string();
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(node.requests(), 0);
    world.state(world.submit(&good).await, "COMMITTED").await;
}

#[tokio::test]
async fn a_nonce_that_another_transaction_took_makes_a_batch_invalid_before_and_after_it_was_sent() {
    let node = Node::start(&["--no-mining"]).await;
    let account = node.account(1).await;
    let world = World::start(&node.settings("confirmations = 1")).await;
    let pending = world.submit(&account.batch(&Unsigned::new(0, SINK))).await;
    world.state(pending, "PENDING").await;
    let rival = account.sign(&Unsigned { value: 2, fee: 90 * GWEI, ..Unsigned::new(0, SINK) });
    node.ask("anvil_dropAllTransactions", json!([])).await;
    node.ask("eth_sendRawTransaction", json!([crate::node::hex(&rival.raw)])).await;
    node.ask("evm_mine", json!([])).await;
    let ended = world.until(pending, |view| view.status != Status::Open).await;
    assert_eq!(&*ended.state, "INVALID");
    let said = serde_json::to_string(&ended.outputs).unwrap();
    assert!(said.contains("nonce-taken"), "{said}");
    let late = world.submit(&account.batch(&Unsigned { value: 3, ..Unsigned::new(0, SINK) })).await;
    let view = world.state(late, "INVALID").await;
    assert_eq!(output(&view, "SUBMITTING")["invalid_transactions"][0]["code"], "nonce-taken");
    let next = world.submit(&account.batch(&Unsigned::new(1, SINK))).await;
    world.state(next, "PENDING").await;
    node.ask("evm_mine", json!([])).await;
    world.state(next, "COMMITTED").await;
}

#[tokio::test]
async fn a_transaction_whose_fee_is_too_low_is_delayed_with_the_reason_until_its_replacement_is_mined() {
    let node = Node::start(&["--no-mining"]).await;
    let account = node.account(1).await;
    let world = World::start(&node.settings("confirmations = 1")).await;
    let unsigned = Unsigned { fee: 3 * GWEI, ..Unsigned::new(0, SINK) };
    let ids = world
        .submit_many(&[
            account.batch(&unsigned),
            account.batch(&Unsigned { fee: 300 * GWEI, ..Unsigned::new(1, SINK) }),
        ])
        .await;
    world.state(ids[0], "PENDING").await;
    node.ask("anvil_setNextBlockBaseFeePerGas", json!([format!("{:#x}", 100 * GWEI)])).await;
    node.ask("evm_mine", json!([])).await;
    // In the pool it is stuck, until this node drops it; from then on the node refuses it.
    let view = world.until(ids[0], |view| view.error.is_some()).await;
    let message = view.error.expect("it was waited for").message;
    let words = ["offers 3000000000 wei", "max fee per gas less than block base fee"];
    assert!(words.iter().any(|words| message.contains(words)), "{message}");
    assert_eq!(&*world.view(ids[1]).await.state, "QUEUED");
    let better = account.batch(&Unsigned { fee: 300 * GWEI, ..unsigned });
    let patch = json!({ "replacement": {
        "batch_header": better["batch_header"], "serialized_batch": better["serialized_batch"],
    } });
    let patch: Json = patch.into();
    world.client.amend(ids[0], &patch, &client::ActOptions::default()).await.unwrap();
    let pool = async || node.ask("txpool_status", json!([])).await["pending"].clone();
    world.until(ids[0], |view| view.revision > 0 && &*view.state == "PENDING").await;
    while node.ask("eth_getTransactionByHash", json!([better["batch_header"]])).await.is_null() {
        tokio::task::yield_now().await;
    }
    assert_eq!(number(&pool().await), 1);
    node.ask("evm_mine", json!([])).await;
    let view = world.state(ids[0], "COMMITTED").await;
    assert_eq!(output(&view, "PENDING")["receipts"][0]["transactionHash"], better["batch_header"]);
    world.state(ids[1], "PENDING").await;
    node.ask("evm_mine", json!([])).await;
    world.state(ids[1], "COMMITTED").await;
}

#[tokio::test]
async fn a_gap_before_a_nonce_is_told() {
    let node = Node::start(&[]).await;
    let account = node.account(1).await;
    let world = World::start(&node.settings("confirmations = 1")).await;
    let id = world.submit(&account.batch(&Unsigned::new(3, SINK))).await;
    let view = world.until(id, |view| view.error.is_some()).await;
    assert!(view.error.expect("it was waited for").message.contains("nonce 0"));
}

#[tokio::test]
async fn a_block_that_vanishes_before_the_confirmations_has_its_transaction_sent_again() {
    let node = Node::start(&["--no-mining"]).await;
    let account = node.account(1).await;
    node.ask("anvil_mine", json!(["0x5"])).await;
    let world = World::start(&node.settings("confirmations = 3\nunknown-after = 2")).await;
    let id = world.submit(&account.batch(&Unsigned::new(0, SINK))).await;
    world.state(id, "PENDING").await;
    node.ask("evm_mine", json!([])).await;
    let before = node.requests();
    node.asked(before + 3).await;
    assert_eq!(&*world.view(id).await.state, "PENDING", "one block is not enough");
    node.ask("anvil_reorg", json!([1, []])).await;
    node.ask("anvil_dropAllTransactions", json!([])).await;
    let path = ["QUEUED", "SUBMITTING", "PENDING", "UNKNOWN", "SUBMITTING", "PENDING"];
    while world.path(id).await != path {
        tokio::task::yield_now().await;
    }
    node.ask("anvil_mine", json!(["0x3"])).await;
    world.state(id, "COMMITTED").await;
}

#[tokio::test]
async fn a_chain_that_goes_back_behind_a_committed_transaction_is_looked_into_by_somebody() {
    let node = Node::start(&["--no-mining"]).await;
    let account = node.account(1).await;
    node.ask("anvil_mine", json!(["0x5"])).await;
    let world = World::start(&node.settings("confirmations = 1\nfinality = 4")).await;
    let ids = world
        .submit_many(&[account.batch(&Unsigned::new(0, SINK)), account.batch(&Unsigned::new(1, SINK))])
        .await;
    world.state(ids[0], "PENDING").await;
    node.ask("evm_mine", json!([])).await;
    world.state(ids[0], "COMMITTED").await;
    node.ask("anvil_mine", json!(["0x4"])).await;
    world.state(ids[1], "COMMITTED").await;
    // Three blocks are left of those above the second: it goes, the first stays.
    node.ask("anvil_reorg", json!([4, []])).await;
    node.ask("anvil_dropAllTransactions", json!([])).await;
    let view = world.state(ids[1], "REORGED").await;
    assert_eq!(view.status, Status::Failed);
    let investigation = view.investigation.expect("somebody is to look into it");
    assert_eq!(investigation.status(), InvestigationStatus::Open);
    node.ask("anvil_mine", json!(["0x8"])).await;
    let filter = client::Filter { pipeline: Some("ledger-finality".to_owned()), ..client::Filter::default() };
    let watched = world.client.submissions(&filter, &client::Page::default()).await.unwrap().submissions;
    let mut ended = BTreeMap::new();
    for watched in watched {
        let view = world.until(watched.id, |view| view.status != Status::Open).await;
        ended.insert(view.labels["batch"].to_string(), view.state.to_string());
    }
    let expected =
        BTreeMap::from([(ids[0].to_string(), "FINAL".to_owned()), (ids[1].to_string(), "GONE".to_owned())]);
    assert_eq!(ended, expected);
    assert_eq!(&*world.view(ids[0]).await.state, "COMMITTED");
}
