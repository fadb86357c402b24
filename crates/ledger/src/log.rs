//! A tenant's Merkle log: RFC 6962 hashing over the heads of its runs.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ct_merkle::{ConsistencyProof, HashableLeaf, InclusionProof, RootHash};
use schema::{Digest, RunId, Seq};
use sha2::Sha256;
use sha2::digest::Update;

/// Says that the chain of `run`, up to `seq`, ends in `head`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The run.
    pub run: RunId,
    /// How many of its events the leaf binds.
    pub seq: Seq,
    /// The hash of the last of them.
    pub head: Digest,
}

impl Leaf {
    /// The bytes that are hashed into the tree.
    #[must_use]
    pub fn data(&self) -> Vec<u8> {
        // Members in canonical order; none of the values needs escaping.
        format!(r#"{{"head":"{}","run":"{}","seq":{}}}"#, self.head, self.run, self.seq).into_bytes()
    }
}

impl HashableLeaf for Leaf {
    fn hash<H: Update>(&self, hasher: &mut H) {
        hasher.update(&self.data());
    }
}

/// A leaf, where it is, and the path from there to the root of some tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedLeaf {
    /// The leaf.
    pub leaf: Leaf,
    /// Where it is.
    pub index: u64,
    /// From its sibling upwards.
    pub path: Vec<Digest>,
}

/// A Merkle log in memory. Its leaves are [`Leaf`]s; only published test vectors have others.
#[derive(Debug, Clone)]
pub struct Log<L: HashableLeaf = Leaf> {
    tree: MemoryBackedTree<Sha256, L>,
}

impl<L: HashableLeaf> Default for Log<L> {
    fn default() -> Self {
        Self { tree: MemoryBackedTree::new() }
    }
}

impl<L: HashableLeaf> Log<L> {
    /// Adds a leaf and says where it is.
    pub fn push(&mut self, leaf: L) -> u64 {
        self.tree.push(leaf);
        self.tree.len() - 1
    }

    /// The leaves, in order.
    #[must_use]
    pub fn leaves(&self) -> &[L] {
        self.tree.items()
    }

    /// How many leaves there are.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.tree.len()
    }

    /// The root over all leaves.
    #[must_use]
    pub fn root(&self) -> Digest {
        Digest::from_bytes((*self.tree.root().as_bytes()).into())
    }

    /// The audit path of the leaf at `index`, from its sibling upwards; `None` if there is no such leaf.
    #[must_use]
    pub fn prove_inclusion(&self, index: u64) -> Option<Vec<Digest>> {
        let index = usize::try_from(index).ok().filter(|_| index < self.size())?;
        Some(digests(self.tree.prove_inclusion(index).as_bytes()))
    }

    /// The proof that the tree of `old_size` leaves is a prefix of this one; `None` unless `0 < old_size <= size`.
    #[must_use]
    pub fn prove_consistency(&self, old_size: u64) -> Option<Vec<Digest>> {
        let added = self.size().checked_sub(old_size).filter(|_| old_size > 0)?;
        Some(digests(self.tree.prove_consistency(usize::try_from(added).ok()?).as_bytes()))
    }
}

/// Whether `leaf` is at `index` of the tree of `size` leaves with this `root`.
#[must_use]
pub fn verify_inclusion(
    leaf: &impl HashableLeaf,
    index: u64,
    size: u64,
    root: Digest,
    path: &[Digest],
) -> bool {
    let proof = InclusionProof::<Sha256>::try_from_bytes(bytes(path));
    index < size
        && size <= crate::canonical::MAX_INTEGER
        && proof.is_ok_and(|proof| root_hash(root, size).verify_inclusion(leaf, index, &proof).is_ok())
}

/// Whether the tree of `old_size` leaves with `old_root` is a prefix of the one of `size` leaves with `root`.
#[must_use]
pub fn verify_consistency(old_size: u64, old_root: Digest, size: u64, root: Digest, path: &[Digest]) -> bool {
    if old_size == 0 || old_size > size || size > crate::canonical::MAX_INTEGER {
        return false;
    }
    if old_size == size {
        return path.is_empty() && old_root == root;
    }
    let proof = ConsistencyProof::<Sha256>::try_from_bytes(bytes(path));
    proof.is_ok_and(|proof| {
        root_hash(root, size).verify_consistency(&root_hash(old_root, old_size), &proof).is_ok()
    })
}

fn root_hash(root: Digest, size: u64) -> RootHash<Sha256> {
    RootHash::new((*root.as_bytes()).into(), size)
}

fn bytes(path: &[Digest]) -> Vec<u8> {
    path.iter().flat_map(|digest| *digest.as_bytes()).collect()
}

fn digests(bytes: &[u8]) -> Vec<Digest> {
    bytes.as_chunks::<32>().0.iter().map(|chunk| Digest::from_bytes(*chunk)).collect()
}
