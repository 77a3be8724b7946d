"""The training of word vectors with negative sampling, in plain Python and float64: twins of the kernels."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from pellucid.word_vectors.noise import NoiseTable

Floats = NDArray[numpy.float64]
_MASK = (1 << 64) - 1


def sigmoid(score: Floats) -> Floats:
    result: Floats = 1 / (1 + numpy.exp(-score))
    return result


def pairs_loss(inputs: Floats, targets: Floats, true: int) -> float:
    """Return −Σ log p over all pairs: σ(score) for the first `true` targets, σ(−score) for the others."""
    scores = inputs @ targets.T
    scores[:, true:] *= -1
    return float(-numpy.log(sigmoid(scores)).sum())


def mean_loss(inputs: Floats, targets: Floats, true: int, weight: float) -> float:
    return pairs_loss(weight * inputs.sum(axis=0, keepdims=True), targets, true)


def moved_pairs(inputs: Floats, targets: Floats, true: int, rate: float) -> tuple[Floats, Floats, float]:
    """Return both sides after a step of gradient descent, and the loss before it."""
    scores = inputs @ targets.T
    errors = (numpy.arange(len(targets)) < true) - sigmoid(scores)
    loss = pairs_loss(inputs, targets, true)
    return inputs + rate * errors @ targets, targets + rate * errors.T @ inputs, loss


def moved_mean(
    inputs: Floats, targets: Floats, true: int, rate: float, weight: float, input_weight: float
) -> tuple[Floats, Floats, float]:
    h = weight * inputs.sum(axis=0)
    errors = (numpy.arange(len(targets)) < true) - sigmoid(targets @ h)
    loss = mean_loss(inputs, targets, true, weight)
    return inputs + input_weight * rate * errors @ targets, targets + rate * numpy.outer(errors, h), loss


def next_state(state: int) -> int:
    state ^= (state << 13) & _MASK
    state ^= state >> 7
    state ^= (state << 17) & _MASK
    return state


def random_bits(seed: int, number: int) -> int:
    state = (seed + 0x9E3779B97F4A7C15 * (number + 1)) & _MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return (state ^ (state >> 31)) | 1


@dataclass
class PlainTraining:
    """All that a round needs; `inputs` and `outputs` change."""

    ids: Sequence[int]
    ends: Sequence[int]
    borders: Sequence[int]
    keep: Sequence[int]
    noise: NoiseTable
    inputs: Floats
    outputs: Floats
    workers: int
    group: int
    local_copies: bool
    cbow: bool
    negative: int
    window: int
    dynamic: bool
    weights: Sequence[float]
    block: int
    seed: int
    loss: float = 0.0
    predictions: int = 0

    def laid_out(self, part: int) -> tuple[list[tuple[list[int], int, int]], int]:
        """Return the part's pieces (words, first centre, last centre), and the generator's state."""
        segments: list[tuple[list[int], int, int]] = []
        if part + 1 >= len(self.borders):
            return segments, 1
        begin, end = self.borders[part], self.borders[part + 1]
        state = random_bits(self.seed, part)
        start = 0
        for stop in self.ends:
            if start < end and stop > begin:
                first, last = max(start, begin), min(stop, end)
                kept: list[int] = []
                places: list[int] = []
                for at in range(max(start, first - self.window), min(stop, last + self.window)):
                    state = next_state(state)
                    if state >> 32 <= self.keep[self.ids[at]]:
                        kept.append(self.ids[at])
                        places.append(at)
                if len(kept) >= 2:
                    segments.append((kept, sum(at < first for at in places), sum(at < last for at in places)))
            start = stop
        return segments, state

    def candidate(self, bits: int, key: int, worker: int) -> int | None:
        """Return the word that random bits stand for."""
        entries = self.noise.entries
        product = (bits >> 32) * len(entries)
        number = product >> 32
        if bits & 0xFFFFFFFF >= int(entries[number, 0]):
            number = int(entries[number, 1])
        sets = self.group // self.n_samplers
        chosen = ((((bits * 0xD6E8FEB86659FD93) & _MASK) >> 32) * sets >> 32) + number * sets
        mixed = ((((chosen * 0x9E3779B1) & _MASK) ^ key) * 0x2545F4914F6CDD1D) & _MASK
        word = chosen * self.n_samplers + (((mixed >> 32) * self.n_samplers >> 32) + worker) % self.n_samplers
        return word if product & 0xFFFFFFFF < int(self.noise.accept[word]) else None

    def negatives(self, count: int, seed: int, key: int, worker: int) -> list[int]:
        """Return the first candidates that are taken."""
        candidates = (self.candidate(random_bits(seed, number), key, worker) for number in itertools.count())
        return list(itertools.islice((word for word in candidates if word is not None), count))

    @property
    def n_samplers(self) -> int:
        return self.workers if self.local_copies else 1

    def run_round(self, number: int, key: int, rate: float, damping: float) -> None:
        laid_out = [self.laid_out(number * self.workers + worker) for worker in range(self.workers)]
        before = self.inputs.copy(), self.outputs.copy()
        copies = []
        for worker, (segments, state) in enumerate(laid_out):
            words = sorted({word for segment, _, _ in segments for word in segment})
            inputs, outputs = self.inputs, self.outputs
            if self.local_copies:
                inputs = before[0].copy()
                outputs = self.outputs  # of words that it has no copies of
            own = {word: before[1][word].copy() for word in words} if self.local_copies else {}
            self.train(segments, state, inputs, outputs, own, key, worker, rate)
            counts = {word: sum(segment.count(word) for segment, _, _ in segments) for word in words}
            copies.append((inputs, own, counts))
        if self.local_copies:
            self.reduce_rows(before, copies, damping)

    def train(
        self,
        segments: list[tuple[list[int], int, int]],
        state: int,
        inputs: Floats,
        outputs: Floats,
        own: dict[int, Floats],
        key: int,
        worker: int,
        rate: float,
    ) -> None:
        seed, state = state, next_state(state)
        centres = sum(len(words) for words, _, _ in segments)
        negatives = self.negatives((centres + 1) * self.negative, seed, key, worker)
        following, others = iter(negatives), itertools.cycle(negatives)
        for words, first, last in segments:
            for centre in range(first, last):
                state = next_state(state)
                reach = self.window - (((state >> 48) * self.window >> 16) if self.dynamic else 0)
                first_context, stop = max(0, centre - reach), min(len(words), centre + reach + 1)
                contexts = [words[first_context if at == centre else at] for at in range(first_context + 1, stop)]
                targets = [words[centre]]
                for word in itertools.islice(following, self.negative):
                    targets.append(
                        next(other for other in others if other != words[centre]) if word == words[centre] else word
                    )
                self.update(contexts, targets, inputs, outputs, own, rate)

    def update(
        self,
        contexts: list[int],
        targets: list[int],
        inputs: Floats,
        outputs: Floats,
        own: dict[int, Floats],
        rate: float,
    ) -> None:
        count = len(contexts)
        rows = [own[word] if word in own else outputs[word] for word in targets]
        movement = [numpy.zeros(inputs.shape[1]) for _ in targets]
        first = len(targets) % self.block or self.block
        for start, stop in zip(
            [0, *range(first, len(targets), self.block)], [*range(first, len(targets) + 1, self.block)], strict=True
        ):
            block, true = numpy.stack(rows[start:stop]), int(start == 0)
            left = inputs[contexts]
            if self.cbow:
                weight = self.weights[0] / count + self.weights[1]
                back = self.weights[2] / count + self.weights[3]
                moved, right, loss = moved_mean(left, block, true, rate, weight, back)
                numpy.add.at(inputs, contexts, moved - left)
                by = right - block
            else:
                loss, by = pairs_loss(left, block, true), numpy.zeros(block.shape)
                errors = (numpy.arange(len(block)) < true) - sigmoid(left @ block.T)
                for context, error in zip(contexts, errors, strict=True):  # a word may stand here twice
                    by += rate * numpy.outer(error, inputs[context])
                    inputs[context] += rate * error @ block
            self.loss += loss
            movement[start:stop] = list(by)
        for row, moved_by in zip(rows, movement, strict=True):
            row += moved_by
        self.predictions += 1 if self.cbow else count

    def reduce_rows(
        self,
        before: tuple[Floats, Floats],
        copies: list[tuple[Floats, dict[int, Floats], dict[int, int]]],
        damping: float,
    ) -> None:
        for word in range(len(self.inputs)):
            holders = [(inputs, own[word], counts[word]) for inputs, own, counts in copies if word in own]
            apart = sum(1 - math.exp(-damping * n) for _, _, n in holders)
            together = 1 - math.exp(-damping * sum(n for _, _, n in holders))
            scale = together / apart if len(holders) > 1 and apart else 1.0
            for inputs, own, _ in holders:
                self.inputs[word] += scale * (inputs[word] - before[0][word])
                self.outputs[word] += scale * (own - before[1][word])
